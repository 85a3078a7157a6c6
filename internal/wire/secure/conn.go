package secure

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/ssmctl/ssmctl/internal/wire"
)

// Listen lets in members only. The proof is asked for at the first read of a connection,
// under the deadline that its reader has set, so that nobody can hold up Accept.
func Listen(ln net.Listener, cfg *tls.Config) net.Listener {
	if cfg == nil {
		return ln
	}
	return listener{Listener: ln, cfg: cfg}
}

type listener struct {
	net.Listener
	cfg *tls.Config
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	under := &batch{Conn: c}
	return conn{Conn: tls.Server(under, l.cfg), under: under}, nil
}

// Client speaks with a member over a connection just dialled. The other side's proof is
// asked for at the first read or write.
func Client(c net.Conn, cfg *tls.Config) net.Conn {
	if cfg == nil {
		return c
	}
	under := &batch{Conn: c}
	return conn{Conn: tls.Client(under, cfg), under: under}
}

// conn is a connection between members.
type conn struct {
	*tls.Conn
	under *batch
}

// Read fails with wire.ErrProtocol for whoever is no member, and for what was changed on its way.
func (c conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, judge(err)
}

// Write fails as Read does. All of b, several records if it is long, goes out by one system call.
func (c conn) Write(b []byte) (int, error) {
	if err := c.Handshake(); err != nil { // it waits for answers to what it writes, so before begin
		return 0, judge(err)
	}
	c.under.begin()
	n, err := c.Conn.Write(b)
	return n, judge(errors.Join(err, c.under.end()))
}

// Close takes no leave, which could block on a peer that does not read. Nothing can be cut
// short unnoticed: frames carry their lengths.
func (c conn) Close() error { return c.NetConn().Close() }

// judge tells a stranger's errors from those of the connection under TLS.
func judge(err error) error {
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, new(syscall.Errno)):
		return err
	}
	return fmt.Errorf("%w: no member of this cluster: %w", wire.ErrProtocol, err)
}

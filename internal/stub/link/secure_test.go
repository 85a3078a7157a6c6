package link

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// newMember returns how a member of a new cluster listens and dials.
func newMember(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	authority, err := secure.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := authority.Issue("test")
	if err != nil {
		t.Fatal(err)
	}
	if server, err = keys.Server(); err != nil {
		t.Fatal(err)
	}
	if client, err = keys.Client(); err != nil {
		t.Fatal(err)
	}
	return server, client
}

// A link between members carries operations, those larger than a record and those that
// come many at once.
func TestSecureLink(t *testing.T) {
	t.Parallel()
	server, client := newMember(t)
	addr, _ := serveSecure(t, "127.0.0.1:0", server)
	l, w := watchSecure(t, addr, client, silence)
	w.await("up")
	value := make([]byte, 200<<10)
	const n = 50
	for i := range uint64(n) {
		r := session.Request{
			ID: i, Op: session.Write, Key: session.Key(i), Version: 1, Expiry: 1, TTL: time.Minute, Timeout: time.Minute,
			Value: value, Sum: session.Sum(session.Key(i), 1, 1, value),
		}
		l.Send(&r)
	}
	for i := range uint64(n) {
		if e := w.await("reply"); e.id != i || e.status != session.Done {
			t.Fatalf("reply %+v, want one to %d", e, i)
		}
	}
}

// Where the brick is of another cluster, or only one side has keys, nothing comes up, and
// the link goes on trying.
func TestSecureNeverUp(t *testing.T) {
	t.Parallel()
	server, mine := newMember(t)
	_, theirs := newMember(t)
	for name, test := range map[string]struct{ brick, link *tls.Config }{
		"another cluster":   {server, theirs},
		"a plaintext link":  {server, nil},
		"a plaintext brick": {nil, mine},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, _ := serveSecure(t, "127.0.0.1:0", test.brick)
			dials := newCounter(t, addr)
			_, w := watchSecure(t, dials.addr, test.link, silence)
			for range 3 {
				dials.wait()
			}
			w.none()
		})
	}
}

// A brick that accepts and then says nothing is given up, as in plaintext.
func TestSecureSilence(t *testing.T) {
	t.Parallel()
	_, client := newMember(t)
	f := newFake(t)
	_, w := watchSecure(t, f.addr, client, 50*time.Millisecond)
	for range 3 {
		select {
		case conn := <-f.conns:
			if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			_, err := io.Copy(io.Discard, conn) // to its end
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the connection stays open")
			}
			conn.Close()
		case <-time.After(patience):
			t.Fatal("nobody dials")
		}
	}
	w.none()
}

// counter passes connections on to an address and tells of each that has ended.
type counter struct {
	t     *testing.T
	addr  string
	ended chan struct{}
}

func newCounter(t *testing.T, to string) *counter {
	t.Helper()
	f := newFake(t)
	c := &counter{t: t, addr: f.addr, ended: make(chan struct{}, 1000)}
	go func() {
		for conn := range f.conns { // until the fake is closed
			c.pass(conn, to)
			c.ended <- struct{}{}
		}
	}()
	return c
}

// pass joins two connections until one of them ends.
func (c *counter) pass(conn net.Conn, to string) {
	defer conn.Close()
	far, err := net.Dial("tcp", to)
	if err != nil {
		return // the test is over
	}
	go func() {
		defer far.Close()
		_, _ = io.Copy(far, conn)
	}()
	_, _ = io.Copy(conn, far)
}

func (c *counter) wait() {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.t.Fatal("the link does not try again")
	}
}

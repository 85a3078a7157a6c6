package secure

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; none takes nearly as long.
const patience = 20 * time.Second

// A client says ping, and a server the secret to whoever is let in.
const (
	ping   = "longer than the head of a record"
	secret = "for members only"
)

// dialled returns both ends of a connection over loopback, the server's under cfg.
func dialled(t *testing.T, cfg *tls.Config) (server, client net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln := Listen(inner, cfg)
	t.Cleanup(func() { ln.Close() })
	if client, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{server, client} {
		t.Cleanup(func() { c.Close() })
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
	}
	return server, client
}

// converse lets a server read the ping and then tell the secret, and a client ping and listen. It returns what the client has heard, and what went wrong on each side.
func converse(t *testing.T, server, client net.Conn) (heard []byte, serverErr, clientErr error) {
	t.Helper()
	var both sync.WaitGroup
	both.Go(func() {
		defer server.Close()
		if _, serverErr = io.ReadFull(server, make([]byte, len(ping))); serverErr == nil {
			_, serverErr = io.WriteString(server, secret)
		}
	})
	both.Go(func() {
		defer client.Close()
		if _, clientErr = io.WriteString(client, ping); clientErr == nil {
			heard, clientErr = io.ReadAll(client)
		}
	})
	both.Wait()
	return heard, serverErr, clientErr
}

// meet lets two holders of keys converse.
func meet(t *testing.T, server, client *Keys) (serverErr, clientErr error) {
	t.Helper()
	serverCfg, err := server.Server()
	if err != nil {
		t.Fatal(err)
	}
	clientCfg, err := client.Client()
	if err != nil {
		t.Fatal(err)
	}
	s, c := dialled(t, serverCfg)
	_, serverErr, clientErr = converse(t, s, Client(c, clientCfg))
	return serverErr, clientErr
}

// Members understand each other whatever the sizes of what they write, both ways at once.
func TestMembers(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	serverCfg, err := issue(t, a).Server()
	if err != nil {
		t.Fatal(err)
	}
	clientCfg, err := issue(t, a).Client()
	if err != nil {
		t.Fatal(err)
	}
	server, raw := dialled(t, serverCfg)
	client := Client(raw, clientCfg)
	var all sync.WaitGroup
	for seed, pair := range [][2]net.Conn{{server, client}, {client, server}} {
		rng := rand.New(rand.NewPCG(1, uint64(seed)))
		sent := make([]byte, 3<<20)
		for i := range sent {
			sent[i] = byte(rng.Uint32())
		}
		all.Go(func() {
			for rest := sent; len(rest) > 0; {
				n, err := pair[0].Write(rest[:min(len(rest), 1+rng.IntN(300<<10))])
				if err != nil {
					t.Error(err)
					return
				}
				rest = rest[n:]
			}
		})
		all.Go(func() {
			got := make([]byte, len(sent))
			if _, err := io.ReadFull(pair[1], got); err != nil || !bytes.Equal(got, sent) {
				t.Errorf("error %v, or something else arrived", err)
			}
		})
	}
	all.Wait()
	client.Close()
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after an orderly end: %v", err)
	}
}

// counted counts the writes to a connection.
type counted struct {
	net.Conn
	writes int
}

func (c *counted) Write(b []byte) (int, error) {
	c.writes++
	return c.Conn.Write(b)
}

// A batch of many records goes out by one write, as in plaintext.
func TestOneWriteABatch(t *testing.T) {
	t.Parallel()
	keys := issue(t, newAuthority(t))
	serverCfg, err := keys.Server()
	if err != nil {
		t.Fatal(err)
	}
	clientCfg, err := keys.Client()
	if err != nil {
		t.Fatal(err)
	}
	server, raw := dialled(t, serverCfg)
	under := &counted{Conn: raw}
	client := Client(under, clientCfg)
	read := make(chan error, 1)
	batch := make([]byte, 100<<10)
	go func() {
		_, err := io.ReadFull(server, make([]byte, 1+2*len(batch)))
		read <- err
	}()
	if _, err := client.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	before := under.writes
	for range 2 {
		if _, err := client.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if n := under.writes - before; n != 2 {
		t.Errorf("%d writes for 2 batches", n)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// Nothing is cut short, changed or said by others without the reader noticing.
func TestChangedOnItsWay(t *testing.T) {
	t.Parallel()
	keys := issue(t, newAuthority(t))
	serverCfg, err := keys.Server()
	if err != nil {
		t.Fatal(err)
	}
	clientCfg, err := keys.Client()
	if err != nil {
		t.Fatal(err)
	}
	server, raw := dialled(t, serverCfg)
	client := Client(raw, clientCfg)
	read := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(server, make([]byte, 2))
		read <- err
	}()
	if _, err := client.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Write(append([]byte{23, 3, 3, 0, 32}, make([]byte, 32)...)); err != nil { // a forged record
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, wire.ErrProtocol) {
		t.Errorf("read: %v", err)
	}
}

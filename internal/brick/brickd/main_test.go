package brickd_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; none takes nearly as long.
const patience = 20 * time.Second

func native() profile.Profile {
	return profile.Profile{Name: "native", Processor: profile.Processor{Kind: profile.Native}}
}

// emulated is a processor whose operations cost so much, and so much a KiB.
func emulated(cost, perKiB time.Duration) profile.Profile {
	return profile.Profile{Name: "test", Processor: profile.Processor{
		Kind: profile.Emulated, Put: cost, Get: cost, PerKiB: perKiB,
	}}
}

// running is a brick that listens.
type running struct {
	addr string
	stop func() error // ends the brick and returns what Serve did
}

// start lets a brick run until the test ends, unless it is stopped before.
func start(t *testing.T, cfg brickd.Config) running {
	t.Helper()
	return startSecure(t, cfg, nil)
}

// startSecure is start of a brick that lets in whom its TLS lets in.
func startSecure(t *testing.T, cfg brickd.Config, security *tls.Config) running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln = secure.Listen(ln, security)
	cfg.ID = 1
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	var result error
	go func() {
		defer close(served)
		result = brickd.New(cfg).Serve(ctx, ln)
	}()
	stop := func() error {
		cancel()
		select {
		case <-served:
			return result
		case <-time.After(patience):
			t.Error("the brick does not end")
			return nil
		}
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("the brick ended with %v", err)
		}
	})
	return running{addr: ln.Addr().String(), stop: stop}
}

// client is the test's end of a connection to a brick.
type client struct {
	t    *testing.T
	conn net.Conn
	in   *wire.Reader
}

// connect opens a connection and says nothing.
func connect(t *testing.T, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &client{t: t, conn: conn, in: wire.NewReader(conn)}
}

// dial opens a connection, says hello and waits for the first sign of life.
func dial(t *testing.T, addr string) *client {
	t.Helper()
	return connect(t, addr).greet()
}

// under goes on by TLS, or in plaintext without any.
func (c *client) under(cfg *tls.Config) *client {
	c.conn = secure.Client(c.conn, cfg)
	c.in = wire.NewReader(c.conn)
	return c
}

func (c *client) greet() *client {
	c.t.Helper()
	c.send(wire.AppendHello(nil))
	c.heartbeat(func(wire.Heartbeat) bool { return true })
	return c
}

func (c *client) send(frames []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(frames); err != nil {
		c.t.Fatal(err)
	}
}

// request sends operations by one system call.
func (c *client) request(ops ...session.Request) {
	c.t.Helper()
	var frames []byte
	for i := range ops {
		frames = wire.AppendRequest(frames, &ops[i])
	}
	c.send(frames)
}

func (c *client) next() (wire.Kind, []byte) {
	c.t.Helper()
	kind, body, err := c.in.Next()
	if err != nil {
		c.t.Fatal(err)
	}
	return kind, body
}

// reply waits for the next reply; its value is valid until the next frame is read.
func (c *client) reply() session.Reply {
	c.t.Helper()
	for {
		kind, body := c.next()
		if kind != wire.KindReply {
			continue
		}
		r, err := wire.DecodeReply(body)
		if err != nil {
			c.t.Fatal(err)
		}
		return r
	}
}

// heartbeat waits for one that is wanted; replies on the way to it are lost.
func (c *client) heartbeat(wanted func(wire.Heartbeat) bool) wire.Heartbeat {
	c.t.Helper()
	for {
		kind, body := c.next()
		if kind != wire.KindHeartbeat {
			continue
		}
		h, err := wire.DecodeHeartbeat(body)
		if err != nil {
			c.t.Fatal(err)
		}
		if wanted(h) {
			return h
		}
	}
}

// order gives an order and returns the answer.
func (c *client) order(verb wire.Verb, s protect.Setting) wire.Heartbeat {
	c.t.Helper()
	const seq = 7
	c.send(wire.AppendCommand(nil, wire.Command{Seq: seq, Verb: verb, Setting: s}))
	return c.heartbeat(func(h wire.Heartbeat) bool { return h.Seq == seq })
}

func (c *client) status() session.BrickStats {
	c.t.Helper()
	return c.order(wire.VerbStatus, protect.Off).Stats
}

// until asks for the status again and again until it is as wanted.
func (c *client) until(what string, wanted func(session.BrickStats) bool) session.BrickStats {
	c.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if s := c.status(); wanted(s) {
			return s
		}
	}
	c.t.Fatalf("never %s: %+v", what, c.status())
	return session.BrickStats{}
}

// closed waits until the brick has closed the connection.
func (c *client) closed() {
	c.t.Helper()
	for {
		if _, _, err := c.in.Next(); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.t.Error("the connection stays open")
			}
			return
		}
	}
}

// roundTrip writes a state and reads it back.
func (c *client) roundTrip(key session.Key, value []byte) {
	c.t.Helper()
	w := write(1, key, value)
	c.request(w)
	if r := c.reply(); r.ID != w.ID || r.Status != session.Done {
		c.t.Fatalf("write: %+v", r)
	}
	c.request(read(2, w))
	if r := c.reply(); r.ID != 2 || r.Status != session.Done || !bytes.Equal(r.Value, value) {
		c.t.Fatalf("read: %+v", r)
	}
}

// write is a write of a state that outlives the test.
func write(id uint64, key session.Key, value []byte) session.Request {
	const version, expiry = 1, 1
	return session.Request{
		ID: id, Op: session.Write, Key: key, Version: version, Expiry: expiry, Value: value,
		Sum: session.Sum(key, version, expiry, value), TTL: time.Minute, Timeout: time.Minute,
	}
}

// read is the read of a state that was written.
func read(id uint64, w session.Request) session.Request {
	return session.Request{
		ID: id, Op: session.Read, Key: w.Key, Version: w.Version, Expiry: w.Expiry, Timeout: time.Minute,
	}
}

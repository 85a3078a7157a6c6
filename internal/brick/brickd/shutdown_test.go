package brickd_test

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

// The end of a brick is the end of its connections, whatever they were about.
func TestShutdown(t *testing.T) {
	t.Parallel()
	b := start(t, brickd.Config{Profile: emulated(time.Hour, 0)})
	idle, silent, busy := dial(t, b.addr), connect(t, b.addr), dial(t, b.addr)
	busy.request(writes(10)...)
	busy.until("queued", func(s session.BrickStats) bool { return s.InboxLen == 9 && s.Connected == 3 })
	if err := b.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	for _, c := range []*client{idle, silent, busy} {
		c.closed()
	}
	if conn, err := net.Dial("tcp", b.addr); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
}

func TestShutdownWhilePeersFlood(t *testing.T) {
	t.Parallel()
	b := start(t, brickd.Config{Profile: native(), Protection: protect.On, Memory: 1 << 20, InboxBytes: 1 << 20})
	var floods sync.WaitGroup
	w := write(1, 1, make([]byte, 1000))
	var frames []byte
	for range 50 {
		frames = wire.AppendRequest(frames, &w)
		r := read(2, w)
		frames = wire.AppendRequest(frames, &r)
	}
	for i := range 4 {
		c := dial(t, b.addr)
		floods.Go(func() {
			for {
				if _, err := c.conn.Write(frames); err != nil {
					return
				}
			}
		})
		if i%2 == 0 { // the others do not read
			floods.Go(c.closed)
		}
	}
	dial(t, b.addr).until("under load", func(s session.BrickStats) bool { return s.Writes+s.Reads > 1000 })
	if err := b.stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	floods.Wait()
}

// A listener that its owner closes is an end like any other.
func TestListenerCloses(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- brickd.New(brickd.Config{ID: 1, Profile: native()}).Serve(t.Context(), ln) }()
	c := dial(t, ln.Addr().String())
	ln.Close()
	c.closed()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

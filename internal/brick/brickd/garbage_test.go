package brickd_test

import (
	"math/rand/v2"
	"net"
	"testing"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

// noise is random bytes whose first four, as a length, are out of bounds.
func noise() []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, 4096)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	b[3] |= 0x80
	return b
}

// edited is a frame with one of its bytes changed.
func edited(frame []byte, at int, to byte) []byte {
	frame[at] = to
	return frame
}

// greeted puts a hello before what follows it.
func greeted(rest []byte) []byte { return append(wire.AppendHello(nil), rest...) }

// garbage is what a brick must not take, by name. The kind of a frame is its byte 4, and its
// body begins at byte 5.
func garbage() map[string][]byte {
	hello := func() []byte { return wire.AppendHello(nil) }
	command := func() []byte { return wire.AppendCommand(nil, wire.Command{Verb: wire.VerbReset}) }
	w := write(1, 1, []byte("state"))
	request := func() []byte { return wire.AppendRequest(nil, &w) }
	overdue := w
	overdue.TTL = 1 << 62
	return map[string][]byte{
		"random bytes":             noise(),
		"an HTTP request":          []byte("GET / HTTP/1.1\r\nHost: brick\r\n\r\n"),
		"a TLS hello":              {0x16, 0x03, 0x01, 0x02, 0x00, 0x01},
		"half a length":            hello()[:2],
		"half a hello":             hello()[:7],
		"a length of zero":         make([]byte, 8),
		"a huge length":            {0xff, 0xff, 0xff, 0xff, 1},
		"a hello of something":     edited(hello(), 5, 'X'),
		"another version's hello":  edited(hello(), len(hello())-1, wire.ProtocolVersion+1),
		"a long hello":             append(edited(hello(), 0, hello()[0]+1), 0),
		"no hello":                 command(),
		"a request without hello":  request(),
		"two hellos":               greeted(hello()),
		"a huge length later":      greeted([]byte{0xff, 0xff, 0xff, 0xff, 1}),
		"noise later":              greeted(noise()),
		"a reply":                  greeted(wire.AppendReply(nil, &session.Reply{ID: 1})),
		"a heartbeat":              greeted(wire.AppendHeartbeat(nil, &wire.Heartbeat{Brick: 1})),
		"a frame of no known kind": greeted(edited(command(), 4, 99)),
		"an unknown command":       greeted(edited(command(), 9, 99)),
		"an unknown protection":    greeted(edited(command(), 10, 99)),
		"an unknown operation":     greeted(edited(request(), 5, 99)),
		"a state for ever":         greeted(wire.AppendRequest(nil, &overdue)),
		"a command cut short":      greeted([]byte{3, 0, 0, 0, byte(wire.KindCommand), 0, 0}),
	}
}

// Whatever does not speak the protocol loses its connection and is counted; others'
// connections do not notice.
func TestGarbage(t *testing.T) {
	t.Parallel()
	b := start(t, brickd.Config{Profile: native(), Protection: protect.On})
	bystander := dial(t, b.addr)
	count := uint64(0)
	for name, bytes := range garbage() {
		bystander.roundTrip(session.Key(2*count), []byte(name))
		c := connect(t, b.addr)
		c.send(bytes)
		if err := c.conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		bystander.roundTrip(session.Key(2*count+1), []byte(name))
		c.closed()
		count++
		s := bystander.until("one connection less", func(s session.BrickStats) bool { return s.Connected == 1 })
		if s.Garbage != count {
			t.Errorf("%s: %d connections counted, want %d", name, s.Garbage, count)
			count = s.Garbage
		}
	}
	if h := bystander.order(wire.VerbStatus, protect.Off); h.Setting != protect.On || h.Stats.InboxLen != 0 {
		t.Errorf("heartbeat: %+v", h)
	}
}

// A connection that only looks is not garbage, however it goes, nor is a stub that
// goes or dies.
func TestNotGarbage(t *testing.T) {
	t.Parallel()
	b := start(t, brickd.Config{Profile: native()})
	bystander := dial(t, b.addr)
	w := write(1, 1, []byte("state"))
	half := wire.AppendRequest(nil, &w)[:20]
	for name, visit := range map[string]func() *client{
		"a port scan": func() *client { return connect(t, b.addr) },
		"a port scan that resets": func() *client {
			c := connect(t, b.addr)
			if err := c.conn.(*net.TCPConn).SetLinger(0); err != nil {
				t.Fatal(err)
			}
			return c
		},
		"a stub": func() *client { return dial(t, b.addr) },
		"a stub that dies within a frame": func() *client {
			c := dial(t, b.addr)
			c.send(half)
			return c
		},
	} {
		c := visit()
		bystander.until("one connection more", func(s session.BrickStats) bool { return s.Connected == 2 })
		c.conn.Close()
		s := bystander.until("one connection less", func(s session.BrickStats) bool { return s.Connected == 1 })
		if s.Garbage != 0 {
			t.Fatalf("%s is counted as garbage", name)
		}
	}
}

package brickd_test

import (
	"crypto/tls"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// newMember returns how a member of a new cluster listens and dials.
func newMember(t *testing.T) (server, client *tls.Config) {
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

// edit returns a copy that edit has changed.
func edit(cfg *tls.Config, edit func(*tls.Config)) *tls.Config {
	cfg = cfg.Clone()
	edit(cfg)
	return cfg
}

// heard returns all that the brick says until the connection ends.
func (c *client) heard() []byte {
	c.t.Helper()
	b, err := io.ReadAll(c.conn)
	if err != nil && len(b) > 0 {
		c.t.Logf("after %d bytes: %v", len(b), err)
	}
	return b
}

// Whoever has not the cluster's keys gets nothing but a closed connection and is counted;
// members do not notice.
func TestStrangers(t *testing.T) {
	t.Parallel()
	server, mine := newMember(t)
	_, theirs := newMember(t)
	b := startSecure(t, brickd.Config{Profile: native(), Protection: protect.On}, server)
	member := connect(t, b.addr).under(mine).greet()
	order := append(wire.AppendHello(nil), wire.AppendCommand(nil, wire.Command{Verb: wire.VerbProtection, Setting: protect.Off})...)
	count := uint64(0)
	for name, cfg := range map[string]*tls.Config{
		"plaintext":               nil,
		"another cluster's":       theirs,
		"another's, unsuspicious": edit(theirs, func(c *tls.Config) { c.InsecureSkipVerify = true }),
		"without a certificate":   edit(mine, func(c *tls.Config) { c.Certificates = nil }),
		"an older TLS":            edit(mine, func(c *tls.Config) { c.MinVersion, c.MaxVersion = 0, tls.VersionTLS12 }),
	} {
		c := connect(t, b.addr).under(cfg)
		_, _ = c.conn.Write(order) // it fails or not: what counts is what comes of it
		if said := c.heard(); len(said) > 0 {
			t.Errorf("%s: it heard %q", name, said)
		}
		count++
		member.roundTrip(session.Key(count), []byte(name))
		s := member.until("one connection less", func(s session.BrickStats) bool { return s.Connected == 1 })
		if s.Garbage != count {
			t.Errorf("%s: %d connections counted, want %d", name, s.Garbage, count)
			count = s.Garbage
		}
	}
	if h := member.order(wire.VerbStatus, protect.Off); h.Setting != protect.On {
		t.Error("a stranger's order was obeyed")
	}
}

// A certificate that has expired, as the brick sees it, lets nobody in; who is in stays.
func TestExpired(t *testing.T) {
	t.Parallel()
	server, mine := newMember(t)
	var years atomic.Int32
	aging := edit(server, func(c *tls.Config) { c.Time = func() time.Time { return time.Now().AddDate(int(years.Load()), 0, 0) } })
	b := startSecure(t, brickd.Config{Profile: native()}, aging)
	member := connect(t, b.addr).under(mine).greet()
	years.Store(20)
	c := connect(t, b.addr).under(mine)
	c.send(wire.AppendHello(nil))
	if said := c.heard(); len(said) > 0 {
		t.Errorf("it heard %q", said)
	}
	s := member.until("one connection less", func(s session.BrickStats) bool { return s.Connected == 1 })
	if s.Garbage != 1 {
		t.Errorf("%d connections counted", s.Garbage)
	}
}

// Who says nothing, or goes on too slowly, is sent away and counted, and hears nothing in
// the meantime, neither heartbeats nor answers.
func TestSilence(t *testing.T) {
	t.Parallel()
	server, mine := newMember(t)
	for name, say := range map[string][]byte{
		"silent":                  nil,
		"silent in its TLS hello": {22, 3, 1, 1, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startSecure(t, brickd.Config{Profile: native()}, server)
			member := connect(t, b.addr).under(mine).greet()
			c := connect(t, b.addr)
			c.send(say)
			if said := c.heard(); len(said) > 0 {
				t.Errorf("it heard %q", said)
			}
			s := member.until("one connection less", func(s session.BrickStats) bool { return s.Connected == 1 })
			if s.Garbage != 1 {
				t.Errorf("%d connections counted", s.Garbage)
			}
		})
	}
}

// A member that looks and goes is not garbage, nor is a port scan.
func TestSecureNotGarbage(t *testing.T) {
	t.Parallel()
	server, mine := newMember(t)
	b := startSecure(t, brickd.Config{Profile: native()}, server)
	member := connect(t, b.addr).under(mine).greet()
	for name, visit := range map[string]func() *client{
		"a port scan":     func() *client { return connect(t, b.addr) },
		"a member's look": func() *client { return connect(t, b.addr).under(mine).greet() },
	} {
		c := visit()
		member.until("one connection more", func(s session.BrickStats) bool { return s.Connected == 2 })
		c.conn.Close()
		s := member.until("one connection less", func(s session.BrickStats) bool { return s.Connected == 1 })
		if s.Garbage != 0 {
			t.Fatalf("%s is counted as garbage", name)
		}
	}
}

// A member that does not read neither holds up others nor the brick's end.
func TestSecureShutdown(t *testing.T) {
	t.Parallel()
	server, mine := newMember(t)
	b := startSecure(t, brickd.Config{Profile: native()}, server)
	member := connect(t, b.addr).under(mine).greet()
	w := write(1, 1, make([]byte, 1<<20))
	member.roundTrip(w.Key, w.Value)
	deaf := connect(t, b.addr).under(mine).greet()
	for range 64 { // many times what the sockets take
		deaf.request(read(2, w))
	}
	member.roundTrip(2, []byte("state"))
	connect(t, b.addr) // it says nothing: the brick waits for its proof
	if err := b.stop(); err != nil {
		t.Error(err)
	}
}

package link

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// serve lets a real brick listen at an address, which it may have to wait for; the
// function that it returns stops it.
func serve(t *testing.T, addr string) (string, func()) {
	t.Helper()
	return serveSecure(t, addr, nil)
}

// serveSecure is serve of a brick that lets in whom its TLS lets in.
func serveSecure(t *testing.T, addr string, cfg *tls.Config) (string, func()) {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	for deadline := time.Now().Add(patience); errors.Is(err, syscall.EADDRINUSE) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		ln, err = net.Listen("tcp", addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	server := brickd.New(brickd.Config{
		ID: brick, Protection: protect.On, Profile: profile.Profile{Processor: profile.Processor{Kind: profile.Native}},
	})
	go func() { served <- server.Serve(ctx, secure.Listen(ln, cfg)) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return ln.Addr().String(), stop
}

// A brick that comes back is found again at its old address, without its states.
func TestReconnects(t *testing.T) {
	t.Parallel()
	began := time.Now()
	addr, stop := serve(t, "127.0.0.1:0")
	l, w := watch(t, addr, silence)
	ask := session.Request{Op: session.Read, Timeout: time.Minute}
	for i := range uint64(4) {
		if e := w.await("up"); e.setting != protect.On {
			t.Errorf("up with %s", e.setting)
		}
		ask.ID = i
		l.Send(&ask)
		if e := w.await("reply"); e.id != i || e.status != session.NotFound {
			t.Errorf("reply %+v, want one to %d", e, i)
		}
		// It has said how long this life of it has lasted, which began after the one before.
		if uptime := time.Duration(w.uptime.Swap(0)); uptime <= 0 || uptime > time.Since(began) {
			t.Errorf("a brick that was started %v ago says that it is up for %v", time.Since(began), uptime)
		}
		stop()
		w.await("down")
		l.Send(&ask) // it is gone
		began = time.Now()
		_, stop = serve(t, addr)
	}
	w.await("up")
}

// A brick need not be there yet, and Send does not wait for it.
func TestSendWithoutConnection(t *testing.T) {
	t.Parallel()
	addr, stop := serve(t, "127.0.0.1:0")
	stop()
	l, w := watch(t, addr, silence)
	big := session.Request{Op: session.Write, Value: make([]byte, 1<<20)}
	for range 1000 {
		l.Send(&big)
	}
	w.none()
	serve(t, addr)
	w.await("up")
	l.Send(&session.Request{ID: 7, Op: session.Read, Timeout: time.Minute})
	if e := w.await("reply"); e.id != 7 {
		t.Errorf("reply to %d, which was sent without a connection", e.id)
	}
}

// Nor does Send wait for a brick that does not read.
func TestSendToDeafBrick(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	l, w := watch(t, f.addr, silence)
	f.accept(beat())
	w.await("up")
	big := session.Request{Op: session.Write, Value: make([]byte, 1<<20)}
	for range 32 { // more than sockets hold
		l.Send(&big)
	}
}

func TestSwitchOfProtection(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	_, w := watch(t, f.addr, silence)
	conn, _ := f.accept(beat())
	w.await("up")
	for _, s := range protect.Settings() {
		if _, err := conn.Write(wire.AppendHeartbeat(nil, &wire.Heartbeat{Brick: brick, Setting: s})); err != nil {
			t.Fatal(err)
		}
		if e := w.await("heard"); e.setting != s {
			t.Errorf("heard %s, want %s", e.setting, s)
		}
	}
}

// What is not the brick that is meant never comes up, and is tried again.
func TestNeverUp(t *testing.T) {
	t.Parallel()
	other := wire.AppendHeartbeat(nil, &wire.Heartbeat{Brick: brick + 1})
	for name, say := range map[string][]byte{
		"another brick":             join(other, beat()),
		"a reply before life":       join(reply(1), beat()),
		"garbage":                   []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"a frame for bricks":        join(wire.AppendHello(nil), beat()),
		"a heartbeat cut short":     {3, 0, 0, 0, byte(wire.KindHeartbeat), 0, 0},
		"an unknown kind":           {1, 0, 0, 0, 99},
		"a length that is too long": {0xff, 0xff, 0xff, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			_, w := watch(t, f.addr, silence)
			for range 3 {
				_, in := f.accept(say)
				if _, _, err := in.Next(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the link does not hang up: %v", err)
				}
			}
			w.none()
		})
	}
}

// A brick that goes mad is given up, and used again when it has come to its senses.
func TestUpAndDown(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	_, w := watch(t, f.addr, silence)
	for _, end := range [][]byte{
		wire.AppendHeartbeat(nil, &wire.Heartbeat{Brick: brick + 1}),
		wire.AppendHello(nil),
		{0, 0, 0, 0},
		{5, 0, 0, 0, byte(wire.KindReply), 1, 2, 3, 4},
	} {
		f.accept(join(beat(), reply(1), end, reply(2)))
		w.await("up")
		if e := w.await("reply"); e.id != 1 {
			t.Errorf("reply to %d", e.id)
		}
		w.await("down")
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	_, w := watch(t, f.addr, 50*time.Millisecond)
	for range 2 {
		_, in := f.accept(nil) // nothing from the start
		if _, _, err := in.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("the link does not hang up: %v", err)
		}
		w.none()
		f.accept(beat()) // nothing any more
		w.await("up")
		w.await("down")
	}
}

// Signs of life keep a connection up for longer than it may be silent; replies are
// none, for a brick owes a heartbeat every second.
func TestHeartbeatsAgainstSilence(t *testing.T) {
	t.Parallel()
	const silence, every = time.Second, 20 * time.Millisecond
	f := newFake(t)
	_, w := watch(t, f.addr, silence)
	conn, _ := f.accept(beat())
	w.await("up")
	for range 3 * silence / every / 2 {
		if _, err := conn.Write(beat()); err != nil {
			t.Fatal(err)
		}
		w.await("heard")
		time.Sleep(every)
	}
	for {
		if _, err := conn.Write(reply(1)); err != nil {
			break // the link has hung up
		}
		time.Sleep(every)
	}
	w.await("down")
}

// While a brick floods it with replies and users with requests, a link is closed, and
// its handler hears no more.
func TestCloseUnderLoad(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	l, w := watch(t, f.addr, silence)
	conn, _ := f.accept(beat())
	var load sync.WaitGroup
	load.Go(func() {
		for {
			if _, err := conn.Write(reply(1)); err != nil {
				return
			}
		}
	})
	load.Go(func() { _, _ = io.Copy(io.Discard, conn) }) // it ends with the connection
	stop := make(chan struct{})
	load.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				l.Send(&session.Request{Op: session.Read})
			}
		}
	})
	for range 100 {
		w.await("reply")
	}
	w.close(l)
	close(stop)
	load.Wait()
	w.close(l) // once more does no harm
	l.Send(&session.Request{})
}

// A link may be closed at any moment of its life.
func TestCloseAtOnce(t *testing.T) {
	t.Parallel()
	addr, _ := serve(t, "127.0.0.1:0")
	for i := range 50 {
		l, w := watch(t, addr, silence)
		time.Sleep(time.Duration(i) * 20 * time.Microsecond) // dialling, greeting, up
		w.close(l)
	}
}

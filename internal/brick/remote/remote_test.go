package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
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

// plain speaks plaintext.
var plain Client

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// start lets a brick run until the test ends. Its processor never gets done with
// anything.
func start(t *testing.T, id session.BrickID) Brick {
	t.Helper()
	return startSecure(t, id, nil)
}

// startSecure is start of a brick that lets in members alone, if it has keys.
func startSecure(t *testing.T, id session.BrickID, keys *secure.Keys) Brick {
	t.Helper()
	cfg, err := keys.Server()
	if err != nil {
		t.Fatal(err)
	}
	ln := secure.Listen(listen(t), cfg)
	server := brickd.New(brickd.Config{ID: id, Profile: profile.Profile{
		Processor: profile.Processor{Kind: profile.Emulated, Put: time.Hour, Get: time.Hour},
	}})
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("%s: %v", id, err)
		}
	})
	return Brick{ID: id, Addr: ln.Addr().String()}
}

// answering listens, says these bytes to whoever comes, and no more.
func answering(t *testing.T, answer []byte) Brick {
	t.Helper()
	ln := listen(t)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if _, err := conn.Write(answer); err != nil {
				t.Error(err)
			}
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Error(err)
			}
			_, _ = io.Copy(io.Discard, conn) // it ends when the other side has had enough
			conn.Close()
		}
	}()
	t.Cleanup(func() { ln.Close(); <-served })
	return Brick{ID: 1, Addr: ln.Addr().String()}
}

// silent listens and never answers.
func silent(t *testing.T) Brick {
	t.Helper()
	return Brick{ID: 1, Addr: listen(t).Addr().String()}
}

// absent is a brick where nothing listens.
func absent(t *testing.T, id session.BrickID) Brick {
	t.Helper()
	ln := listen(t)
	ln.Close()
	return Brick{ID: id, Addr: ln.Addr().String()}
}

// fill puts n operations before a brick's processor.
func fill(t *testing.T, b Brick, n int) {
	t.Helper()
	conn, err := net.Dial("tcp", b.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	frames := wire.AppendHello(nil)
	for range n {
		frames = wire.AppendRequest(frames, &session.Request{Op: session.Read, Timeout: time.Hour})
	}
	if _, err := conn.Write(frames); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		h, err := plain.Status(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if h.Stats.InboxLen == uint64(n)-1 { // one is in the processor
			return
		}
	}
	t.Fatal("the inbox does not fill")
}

func TestOrders(t *testing.T) {
	b := start(t, 3)
	h, err := plain.Status(t.Context(), b)
	if err != nil || h.Brick != 3 || h.Setting != protect.Off || h.Stats.Uptime <= 0 {
		t.Errorf("status: %+v, %v", h, err)
	}
	for _, s := range protect.Settings() {
		if h, err = plain.Protect(t.Context(), b, s); err != nil || h.Setting != s {
			t.Errorf("protect %s: %+v, %v", s, h, err)
		}
		if h, err = plain.Status(t.Context(), b); err != nil || h.Setting != s {
			t.Errorf("status after protect %s: %+v, %v", s, h, err)
		}
	}
	fill(t, b, 10)
	if h, err = plain.Reset(t.Context(), b); err != nil || h.Stats.InboxLen != 0 {
		t.Errorf("reset: %+v, %v", h, err)
	}
	if h, err = plain.Status(t.Context(), b); err != nil || h.Stats.InboxLen != 0 {
		t.Errorf("status after the reset: %+v, %v", h, err)
	}
}

// A brick that is not the one meant is left as it is.
func TestAnotherBrick(t *testing.T) {
	there := start(t, 3)
	fill(t, there, 10)
	meant := Brick{ID: 4, Addr: there.Addr}
	_, protectErr := plain.Protect(t.Context(), meant, protect.On)
	_, resetErr := plain.Reset(t.Context(), meant)
	for _, err := range []error{protectErr, resetErr} {
		var failed *Error
		if !errors.As(err, &failed) || failed.Brick != meant || !strings.Contains(err.Error(), "brick-3 answers there") {
			t.Errorf("error: %v", err)
		}
	}
	if h, err := plain.Status(t.Context(), there); err != nil || h.Setting != protect.Off || h.Stats.InboxLen != 9 {
		t.Errorf("the brick that is there: %+v, %v", h, err)
	}
}

func TestErrors(t *testing.T) {
	var (
		beat   = wire.AppendHeartbeat(nil, &wire.Heartbeat{Brick: 1})
		others = wire.AppendHeartbeat(beat[:len(beat):len(beat)], &wire.Heartbeat{Brick: 2, Seq: 1})
		reply  = wire.AppendReply(nil, &session.Reply{})
	)
	for name, test := range map[string]struct {
		brick Brick
		is    error
		text  string
	}{
		"nothing listens":       {absent(t, 1), syscall.ECONNREFUSED, ""},
		"not an address":        {Brick{ID: 1, Addr: "nowhere"}, nil, "missing port"},
		"garbage":               {answering(t, []byte("HTTP/1.1 400 Bad Request\r\n\r\n")), wire.ErrProtocol, ""},
		"a reply to nothing":    {answering(t, reply), wire.ErrProtocol, ""},
		"an end":                {answering(t, nil), nil, ""},
		"an end after hello":    {answering(t, beat), nil, ""},
		"another brick answers": {answering(t, others), nil, "brick-2 answers there"},
	} {
		_, err := plain.Status(t.Context(), test.brick)
		var failed *Error
		if !errors.As(err, &failed) || failed.Brick != test.brick {
			t.Errorf("%s: %v, want an *Error with the brick", name, err)
			continue
		}
		if test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s: %v, want %v", name, err, test.is)
		}
		for _, text := range []string{"brick-1 at " + test.brick.Addr, test.text} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q does not say %q", name, err, text)
			}
		}
	}
}

func TestNoAnswer(t *testing.T) {
	const within = 50 * time.Millisecond
	_, err := plain.orderWithin(t.Context(), within, silent(t), wire.Command{Verb: wire.VerbStatus})
	if err == nil || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("error: %v", err)
	}
}

// Whoever cancels is told so, and not that the brick does not answer.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := silent(t)
	failed := make(chan error, 1)
	go func() {
		_, err := plain.Status(ctx, b)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "within") {
		t.Errorf("error: %v", err)
	}
}

func TestAll(t *testing.T) {
	bricks := []Brick{start(t, 1), absent(t, 2), start(t, 3), {ID: 4, Addr: ""}}
	bricks[3].Addr = bricks[0].Addr
	answers, errs := All(t.Context(), bricks, func(ctx context.Context, b Brick) (wire.Heartbeat, error) {
		return plain.Protect(ctx, b, protect.On)
	})
	if len(answers) != len(bricks) || len(errs) != 2 {
		t.Fatalf("%d answers, errors %v", len(answers), errs)
	}
	for i, there := range []bool{true, false, true, false} {
		if there && (answers[i].Brick != bricks[i].ID || answers[i].Setting != protect.On) {
			t.Errorf("answer %d: %+v", i, answers[i])
		}
		if !there && answers[i] != (wire.Heartbeat{}) {
			t.Errorf("an answer without a brick: %+v", answers[i])
		}
	}
	for i, id := range []session.BrickID{2, 4} {
		var failed *Error
		if !errors.As(errs[i], &failed) || failed.Brick.ID != id {
			t.Errorf("error %d: %v, want one of %s", i, errs[i], id)
		}
	}
	if answers, errs := All(t.Context(), nil, plain.Status); len(answers)+len(errs) != 0 {
		t.Errorf("of no bricks: %v, %v", answers, errs)
	}
}

// Package link is the shell of a stub: it keeps a connection to each brick, carries
// the stub's requests over it and its answers back.
//
// One reader a connection delivers what arrives; one writer batches what is ready.
package link

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

const (
	dialWithin = time.Second
	// A brick that restarts is found again within the longest pause between dials.
	shortestRetry = 20 * time.Millisecond
	longestRetry  = 500 * time.Millisecond
	// silence is how long a brick may go without a sign of life: three heartbeats.
	silence = 3 * time.Second
)

// Handler is told what a connection brings. Its methods are called one at a time
// for one brick, and concurrently for different ones.
type Handler interface {
	// Up tells of the first sign of life on a new connection.
	Up(brick session.BrickID, s protect.Setting)
	// Heard tells of every later one.
	Heard(brick session.BrickID, s protect.Setting)
	// Share tells, after each of those, of the operations in flight that the brick offers each stub.
	Share(brick session.BrickID, ops float64)
	// Lives tells, after that, for how long the brick has been up.
	Lives(brick session.BrickID, uptime time.Duration)
	// Reply brings an answer, whose value is lent for the length of the call.
	Reply(brick session.BrickID, r *session.Reply)
	// Down tells that the connection is gone. It follows every Up.
	Down(brick session.BrickID)
}

// Link keeps a connection to one brick until it is closed.
type Link struct {
	id      session.BrickID
	addr    string
	tls     *tls.Config // nil is plaintext
	handler Handler
	silence time.Duration               // that ends a connection
	out     atomic.Pointer[wire.Writer] // nil while there is no connection
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// Open starts dialling a brick and goes on until Close. A nil cfg is plaintext.
func Open(id session.BrickID, addr string, cfg *tls.Config, h Handler) *Link {
	return open(id, addr, cfg, h, silence)
}

func open(id session.BrickID, addr string, cfg *tls.Config, h Handler, silence time.Duration) *Link {
	ctx, cancel := context.WithCancel(context.Background())
	l := &Link{id: id, addr: addr, tls: cfg, handler: h, silence: silence, cancel: cancel}
	l.done.Go(func() { l.keep(ctx) })
	return l
}

// Close ends the connection and waits until the handler will not be called again.
func (l *Link) Close() {
	l.cancel()
	l.done.Wait()
}

// Send carries a request to the brick. It never blocks; without a connection the
// request is gone, and Down says so.
func (l *Link) Send(r *session.Request) {
	out := l.out.Load()
	if out == nil {
		return
	}
	// A broken connection is the reader's to report.
	_ = out.Append(func(b []byte) []byte { return wire.AppendRequest(b, r) })
}

// keep dials again and again, the sooner the better the last connection was.
func (l *Link) keep(ctx context.Context) {
	retry := shortestRetry
	for ctx.Err() == nil {
		if l.converse(ctx) {
			retry = shortestRetry
		}
		timer := time.NewTimer(retry)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		retry = min(2*retry, longestRetry)
	}
}

// converse has one connection from dial to end. It reports whether the brick was heard.
func (l *Link) converse(ctx context.Context) (heard bool) {
	dialer := net.Dialer{Timeout: dialWithin}
	conn, err := dialer.DialContext(ctx, "tcp", l.addr)
	if err != nil {
		return false
	}
	conn = secure.Client(conn, l.tls)
	out := wire.NewWriter()
	stop := context.AfterFunc(ctx, func() { out.Fail(context.Canceled); _ = conn.Close() })
	defer stop()
	var writer sync.WaitGroup
	writer.Go(func() {
		if out.Run(conn) != nil {
			_ = conn.Close() // the reader notices
		}
	})
	_ = out.Append(wire.AppendHello) // a writer just made takes it
	heard = l.read(conn, out)
	out.Fail(net.ErrClosed)
	_ = conn.Close()
	writer.Wait()
	return heard
}

// read delivers what arrives until the connection ends.
func (l *Link) read(conn net.Conn, out *wire.Writer) (heard bool) {
	in := wire.NewReader(conn)
	defer func() {
		if heard {
			l.out.Store(nil)
			l.handler.Down(l.id)
		}
	}()
	if err := conn.SetReadDeadline(time.Now().Add(l.silence)); err != nil {
		return false
	}
	for {
		kind, body, err := in.Next()
		if err != nil {
			return heard
		}
		switch kind {
		case wire.KindReply:
			r, err := wire.DecodeReply(body)
			if err != nil || !heard {
				return heard
			}
			l.handler.Reply(l.id, &r)
		case wire.KindHeartbeat:
			h, err := wire.DecodeHeartbeat(body)
			if err != nil || h.Brick != l.id || conn.SetReadDeadline(time.Now().Add(l.silence)) != nil {
				return heard
			}
			if heard {
				l.handler.Heard(l.id, h.Setting)
			} else {
				heard = true
				l.out.Store(out)
				l.handler.Up(l.id, h.Setting)
			}
			l.handler.Share(l.id, h.Stats.Share)
			l.handler.Lives(l.id, h.Stats.Uptime)
		default:
			return heard
		}
	}
}

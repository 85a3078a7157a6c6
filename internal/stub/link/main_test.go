package link

import (
	"crypto/tls"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests; none takes nearly as long.
const patience = 20 * time.Second

const brick = session.BrickID(1)

// event is a call of the handler.
type event struct {
	kind    string // up, heard, reply or down
	setting protect.Setting
	id      uint64 // of a reply
	status  session.Status
}

// watcher is a handler that holds a link to its promises: one call at a time, Up and
// Down in turn, the others in between, nothing after Close.
type watcher struct {
	t      *testing.T
	events chan event
	calls  atomic.Int32
	up     atomic.Bool
	closed atomic.Bool
	uptime atomic.Int64 // of the brick, as it was last told
}

// watch opens a link that is closed when the test ends, unless it was before.
func watch(t *testing.T, addr string, silence time.Duration) (*Link, *watcher) {
	t.Helper()
	return watchSecure(t, addr, nil, silence)
}

// watchSecure is watch by TLS.
func watchSecure(t *testing.T, addr string, cfg *tls.Config, silence time.Duration) (*Link, *watcher) {
	t.Helper()
	w := &watcher{t: t, events: make(chan event, 1000)}
	l := open(brick, addr, cfg, w, silence)
	t.Cleanup(func() { w.close(l) })
	return l, w
}

func (w *watcher) close(l *Link) {
	l.Close()
	w.closed.Store(true)
	if w.up.Load() {
		w.t.Error("no Down came before Close returned")
	}
}

func (w *watcher) take(id session.BrickID, e event, wasUp, isUp bool) {
	if w.calls.Add(1) > 1 {
		w.t.Errorf("%s: another call is under way", e.kind)
	}
	defer w.calls.Add(-1)
	if w.closed.Load() {
		w.t.Errorf("%s after Close", e.kind)
	}
	if id != brick {
		w.t.Errorf("%s of %s", e.kind, id)
	}
	if w.up.Swap(isUp) != wasUp {
		w.t.Errorf("%s while up is %t", e.kind, !wasUp)
	}
	select {
	case w.events <- e:
	default: // a test that does not look any more
	}
}

func (w *watcher) Up(id session.BrickID, s protect.Setting) {
	w.take(id, event{kind: "up", setting: s}, false, true)
}

func (w *watcher) Share(session.BrickID, float64) {}

func (w *watcher) Lives(_ session.BrickID, uptime time.Duration) { w.uptime.Store(int64(uptime)) }

func (w *watcher) Heard(id session.BrickID, s protect.Setting) {
	w.take(id, event{kind: "heard", setting: s}, true, true)
}

func (w *watcher) Reply(id session.BrickID, r *session.Reply) {
	w.take(id, event{kind: "reply", id: r.ID, status: r.Status}, true, true)
}

func (w *watcher) Down(id session.BrickID) { w.take(id, event{kind: "down"}, true, false) }

// await waits for an event of a kind and skips what comes before it.
func (w *watcher) await(kind string) event {
	w.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case e := <-w.events:
			if e.kind == kind {
				return e
			}
		case <-timeout:
			w.t.Fatalf("no %s", kind)
		}
	}
}

// none checks that nothing has happened.
func (w *watcher) none() {
	w.t.Helper()
	select {
	case e := <-w.events:
		w.t.Errorf("event %+v", e)
	default:
	}
}

// fake is a brick whose part the test plays.
type fake struct {
	t     *testing.T
	addr  string
	conns chan net.Conn
}

func newFake(t *testing.T) *fake {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, addr: ln.Addr().String(), conns: make(chan net.Conn)}
	done := make(chan struct{})
	go func() {
		defer close(f.conns)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			select {
			case f.conns <- conn:
			case <-done:
				conn.Close()
			}
		}
	}()
	t.Cleanup(func() {
		close(done)
		ln.Close()
		for conn := range f.conns {
			conn.Close()
		}
	})
	return f
}

// accept waits for a connection and its hello, and says these bytes. The test's end
// closes it, unless the link does before.
func (f *fake) accept(say []byte) (net.Conn, *wire.Reader) {
	f.t.Helper()
	var conn net.Conn
	select {
	case conn = <-f.conns:
	case <-time.After(patience):
		f.t.Fatal("nobody dials")
	}
	f.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		f.t.Fatal(err)
	}
	in := wire.NewReader(conn)
	kind, body, err := in.Next()
	if err != nil || kind != wire.KindHello || wire.DecodeHello(body) != nil {
		f.t.Fatalf("frame %d instead of a hello, error %v", kind, err)
	}
	if _, err := conn.Write(say); err != nil {
		f.t.Fatal(err)
	}
	return conn, in
}

// beat is a heartbeat of the brick that is meant.
func beat() []byte {
	return wire.AppendHeartbeat(nil, &wire.Heartbeat{Brick: brick, Setting: protect.On})
}

func reply(id uint64) []byte { return wire.AppendReply(nil, &session.Reply{ID: id}) }

func join(frames ...[]byte) []byte {
	var all []byte
	for _, f := range frames {
		all = append(all, f...)
	}
	return all
}

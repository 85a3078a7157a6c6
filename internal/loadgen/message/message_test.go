package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var delay = 200 * time.Millisecond

// orders are one of each kind, all fields set.
func orders() []Order {
	return []Order{
		{Level: &Level{
			First: 3, Machines: 2, Threads: 12, Size: 8 << 10, Quorum: session.Quorum{W: 3, WQ: 2, R: 1},
			Timeout: 60 * time.Millisecond, Policy: "aimd", Seed: 1<<64 - 1, Nonce: 1 << 63, Join: time.Second,
			Users: profile.Users{Own: 27 * time.Millisecond, OwnJitter: 0.5, Expiry: 10 * time.Second},
			Rate:  0.1, Warmup: 5 * time.Second, Seconds: 120, Bricks: []remote.Brick{{ID: 1, Addr: "[::1]:7000"}},
			Guests: []loadgen.Guests{{First: 20, Machines: 2, Begin: 15 * time.Second, End: 25 * time.Second}},
		}},
		{Start: &delay},
		{Stop: true},
		{Audit: true},
	}
}

// reports are one of each kind, all fields set.
func reports(t testing.TB) []Report {
	t.Helper()
	h := result.NewHistograms()
	h.Record(session.Write, session.OK, 7*time.Millisecond)
	latency, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return []Report{
		{Ready: &Ready{Reachable: 8}},
		{Interval: []loadgen.Interval{
			{Second: -1, Count: [session.NumOutcomes]uint64{1, 2, 3, 4, 5, 6}, Late: 7, Lost: 8, Protection: "on"},
			{Busy: time.Hour, Rest: time.Minute, Protection: result.Mixed, Latency: latency},
		}},
		{Ended: true},
		{Failed: "no \x01 \u2028 <policy>"},
		{Brick: &Brick{ID: 3, Up: true, Second: -0.25}},
		{Done: &Done{
			PerMachine: []uint64{0, 1 << 63}, Writes: 1, Sent: 3, Acked: 2, LagP99: 1, LagWorst: 2, CPU: 0.5, Cores: 2,
			Audit: loadgen.Audit{Audit: result.Audit{Writes: 5, Found: 1, Lost: 1, Stale: 1, Unknown: 2}, Told: 1},
		}},
	}
}

// send writes values as frames.
func send[T any](t testing.TB, values ...T) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for _, v := range values {
		if err := w.Write(v); err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// receive reads frames until the stream ends as it should.
func receive[T any](t *testing.T, src io.Reader) []T {
	t.Helper()
	var all []T
	for {
		var v T
		err := Read(src, &v)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
}

func TestRoundTrip(t *testing.T) {
	sent := orders()
	got := receive[Order](t, iotest.OneByteReader(bytes.NewReader(send(t, sent...))))
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Errorf("orders (-sent +got):\n%s", diff)
	}
	said := reports(t)
	heard := receive[Report](t, iotest.HalfReader(bytes.NewReader(send(t, said...))))
	if diff := cmp.Diff(said, heard); diff != "" {
		t.Errorf("reports (-sent +got):\n%s", diff)
	}
}

// A stream that ends within a frame has not ended as it should.
func TestTruncated(t *testing.T) {
	frame := send(t, orders()[0])
	for n := 1; n < len(frame); n++ {
		err := Read(bytes.NewReader(frame[:n]), new(Order))
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("after %d of %d bytes: %v", n, len(frame), err)
		}
	}
}

func TestOversize(t *testing.T) {
	for _, size := range []uint32{maxFrame + 1, 1<<32 - 1} {
		head := binary.LittleEndian.AppendUint32(nil, size)
		unread := errors.New("it reads on")
		err := Read(io.MultiReader(bytes.NewReader(head), iotest.ErrReader(unread)), new(Order))
		if err == nil || errors.Is(err, unread) {
			t.Errorf("a frame of %d bytes: %v", size, err)
		}
	}
	// The largest is not taken for granted either: memory follows what arrives.
	largest := binary.LittleEndian.AppendUint32(nil, maxFrame)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := Read(bytes.NewReader(largest), new(Order)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a length alone: %v", err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("a length alone takes %d bytes of memory", n)
	}
}

func TestNotJSON(t *testing.T) {
	for _, body := range []string{"", "{", "[]", `{"start":"soon"}`, `{"level":{"machines":-1.5}}`, `{} {}`} {
		frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
		if err := Read(bytes.NewReader(frame), new(Order)); err == nil {
			t.Errorf("%q is an order", body)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrors(t *testing.T) {
	if err := NewWriter(brokenWriter{}).Write(Order{Stop: true}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("to a stream that is closed: %v", err)
	}
	var buf bytes.Buffer
	if err := NewWriter(&buf).Write(make(chan int)); err == nil || buf.Len() > 0 {
		t.Errorf("of what has no form: %v, %d bytes sent", err, buf.Len())
	}
}

// Frames of several writers at once do not mix.
func TestWriteConcurrently(t *testing.T) {
	const writers, each = 8, 50
	src, dst := io.Pipe()
	w := NewWriter(dst)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for range each {
				if err := w.Write(Report{Failed: strings.Repeat("x", 100*(i+1))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { wg.Wait(); _ = dst.Close() }() // of a pipe, it never fails
	count := make(map[int]int)
	for _, r := range receive[Report](t, src) {
		count[len(r.Failed)/100]++
	}
	for i := range writers {
		if count[i+1] != each {
			t.Errorf("writer %d: %d frames of %d", i, count[i+1], each)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, o := range orders() {
		f.Add(send(f, o))
	}
	for _, r := range reports(f) {
		f.Add(send(f, r))
	}
	f.Add([]byte{2, 0, 0, 0, '{', '}'})
	f.Fuzz(func(t *testing.T, stream []byte) {
		again[Order](t, stream)
		again[Report](t, stream)
	})
}

// again checks that what was read, sent on and read again is the same.
func again[T any](t *testing.T, stream []byte) {
	t.Helper()
	var first, second T
	if Read(bytes.NewReader(stream), &first) != nil {
		return
	}
	if err := Read(bytes.NewReader(send(t, first)), &second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

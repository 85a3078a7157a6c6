package brick

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

const ms = time.Millisecond

// exact is a processor whose costs can be added up by hand.
var exact = profile.Processor{Kind: profile.Emulated, Put: 10 * ms, Get: 5 * ms, Discard: 0.4}

func write(from uint32, size int, timeout time.Duration) Op {
	return Op{From: from, Request: session.Request{Op: session.Write, Timeout: timeout, Value: make([]byte, size)}}
}

func read(from uint32, timeout time.Duration) Op {
	return Op{From: from, Request: session.Request{Op: session.Read, Timeout: timeout}}
}

func TestDiscardCosts(t *testing.T) {
	tests := []struct {
		name    string
		setting protect.Setting
		want    time.Duration // when the third operation is done
	}{
		{"served all the same", protect.Off, 10*ms + 10*ms + 5*ms},
		{"dropped for 0.4 of its cost", protect.DiscardOnly, 10*ms + 4*ms + 5*ms},
		{"window alone drops nothing", protect.WindowOnly, 10*ms + 10*ms + 5*ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q := NewQueue(exact, tt.setting, 0, nil, 1)
			for _, op := range []Op{write(1, 100, 60*ms), write(2, 100, 10*ms-1), read(3, 60*ms)} {
				q.Arrive(0, op)
			}
			fates := drain(q)
			if last := fates[2]; last.Action != Serve || last.Done != tt.want {
				t.Errorf("the third operation: %+v, want served at %v", last, tt.want)
			}
			if dead := fates[1].Action == Discard; dead != (tt.setting.Queue == protect.Discard) {
				t.Errorf("the second operation: %+v", fates[1])
			}
		})
	}
}

// What waits exactly as long as its time-out is still served.
func TestDiscardBoundary(t *testing.T) {
	q := NewQueue(exact, protect.On, 0, nil, 1)
	q.Arrive(0, write(1, 0, 60*ms))
	q.Arrive(0, write(2, 0, 10*ms))
	for i, f := range drain(q) {
		if f.Action != Serve {
			t.Errorf("operation %d: %+v", i+1, f)
		}
	}
}

// A setting holds from the next operation on, also for what already waits.
func TestSetHoldsForWhatWaits(t *testing.T) {
	q := NewQueue(exact, protect.Off, 0, nil, 1)
	for i := range 3 {
		q.Arrive(0, write(uint32(i), 0, 5*ms))
	}
	if s := q.Next(0); s.Action != Serve || s.At != 10*ms {
		t.Fatalf("first step %+v", s)
	}
	q.Set(protect.On)
	if s := q.Next(10 * ms); s.Action != Discard || q.Setting() != protect.On {
		t.Fatalf("step after switching on %+v, setting %v", s, q.Setting())
	}
	q.Set(protect.Off)
	if s := q.Next(14 * ms); s.Action != Serve || s.At != 24*ms {
		t.Fatalf("step after switching off %+v", s)
	}
}

func TestInboxIsBounded(t *testing.T) {
	const limit = 4 * (1024 + OpOverhead)
	q := NewQueue(exact, protect.On, limit, nil, 1)
	if !q.Arrive(0, write(1, 10*limit, ms)) {
		t.Fatal("an empty inbox refuses a large operation")
	}
	if q.Arrive(0, read(2, ms)) {
		t.Fatal("a full inbox takes one more operation")
	}
	drain(q)
	for i := range uint32(6) {
		if took := q.Arrive(0, write(i, 1024, time.Hour)); took != (i < 4) {
			t.Errorf("write %d of 1 KiB: taken %v", i, took)
		}
	}
	var s session.BrickStats
	q.Stats(&s)
	if s.Dropped != 3 || s.InboxLen != 4 || s.InboxBytes != limit {
		t.Errorf("statistics %+v", s)
	}
	for i, f := range drain(q) {
		if f.From != uint32(i) {
			t.Errorf("place %d: operation %d, not the oldest", i, f.From)
		}
	}
	if q.Stats(&s); s.InboxBytes != 0 {
		t.Errorf("an empty inbox holds %d bytes", s.InboxBytes)
	}
}

func TestReset(t *testing.T) {
	q := NewQueue(exact, protect.On, 0, nil, 1)
	for i := range uint32(100) {
		q.Arrive(0, read(i, time.Hour))
	}
	q.Next(0)
	var released []uint32
	q.Reset(func(op Op) { released = append(released, op.From) })
	if len(released) != 99 || released[0] != 1 || released[98] != 99 {
		t.Errorf("released %v", released)
	}
	if s := q.Next(ms); s.Action != Idle || s.At != Never {
		t.Errorf("after the reset %+v", s)
	}
	q.Arrive(2*ms, read(100, time.Hour))
	if s := q.Next(2 * ms); s.At != 7*ms {
		t.Errorf("the processor is not free: %+v", s)
	}
	var s session.BrickStats
	if q.Stats(&s); s.Reads != 2 {
		t.Errorf("counters fell: %+v", s)
	}
}

func TestNativeServesAtOnce(t *testing.T) {
	q := NewQueue(profile.Processor{Kind: profile.Native}, protect.On, 0, nil, 1)
	q.Arrive(0, read(1, 60*ms))
	q.Arrive(0, read(2, 60*ms))
	if s := q.Next(60 * ms); s.Action != Serve || s.At != 60*ms {
		t.Errorf("in time: %+v", s)
	}
	// Nothing is emulated, so what counts is when the machine comes to it.
	if s := q.Next(60*ms + 1); s.Action != Discard {
		t.Errorf("too late: %+v", s)
	}
}

// The ring is turned round many times while it grows.
func TestInboxGrowsInOrder(t *testing.T) {
	var in inbox
	var pushed, popped uint32
	for round := range 200 {
		for range round {
			in.push(Op{From: pushed})
			pushed++
		}
		for range min(round-1, in.count) {
			if op := in.take(in.head); op.From != popped {
				t.Fatalf("operation %d came out in place of %d", op.From, popped)
			}
			popped++
		}
	}
	if in.count != int(pushed-popped) || in.bytes != in.count*OpOverhead {
		t.Errorf("%d operations of %d bytes remain, want %d", in.count, in.bytes, pushed-popped)
	}
}

func TestQueueAllocatesNothing(t *testing.T) {
	q := NewQueue(testModel, protect.On, 0, keySizes{}, 1)
	op := write(1, 8<<10, 60*ms)
	var now time.Duration
	for range 50 {
		q.Arrive(now, op) // the ring has its size
	}
	if n := testing.AllocsPerRun(1000, func() {
		now += 10 * ms
		q.Arrive(now, op)
		q.Next(now)
	}); n > 0 {
		t.Errorf("an operation through the queue allocates %v times", n)
	}
}

func BenchmarkQueue(b *testing.B) {
	q := NewQueue(testModel, protect.On, 0, keySizes{}, 1)
	op := write(1, 8<<10, 60*ms)
	var now time.Duration
	b.ReportAllocs()
	for b.Loop() {
		now += 10 * ms
		q.Arrive(now, op)
		q.Next(now)
	}
}

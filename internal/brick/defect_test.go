package brick

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
)

// served gives a queue so many reads at once and returns when each is done.
func served(q *Queue, now time.Duration, reads int) (done []time.Duration, muted int) {
	for range reads {
		q.Arrive(now, read(1, time.Hour))
	}
	for {
		step := q.Next(now)
		switch {
		case step.Action == Serve:
			done = append(done, step.At)
			if step.Mute {
				muted++
			}
		case step.Action == Idle && step.At == Never:
			return done, muted
		case step.Action == Idle:
			now = step.At
		}
	}
}

// at checks when the operations were done.
func at(t *testing.T, what string, done []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(done) != len(want) {
		t.Fatalf("%s: done at %v, want %v", what, done, want)
	}
	for i := range want {
		if done[i] != want[i] {
			t.Errorf("%s: done at %v, want %v", what, done, want)
			return
		}
	}
}

// A slow brick takes longer for every message, dead ones included, and only while it is slow.
func TestSlow(t *testing.T) {
	q := NewQueue(exact, protect.On, 0, nil, 1)
	q.Break(0, Defect{Slow: ms})
	done, _ := served(q, 0, 3)
	at(t, "slow", done, 6*ms, 12*ms, 18*ms)

	q.Arrive(18*ms, write(1, 0, ms))
	q.Arrive(18*ms, write(2, 0, ms)) // dead when its turn comes
	q.Arrive(18*ms, read(3, time.Second))
	fates := drain(q)
	if fates[1].Action != Discard || fates[2].Done != 18*ms+11*ms+5*ms+6*ms {
		t.Errorf("with a dead message: %+v", fates)
	}

	q.Break(40*ms, Defect{})
	done, _ = served(q, 40*ms, 2)
	at(t, "healthy again", done, 45*ms, 50*ms)
}

// A native processor has no costs but those of being slow.
func TestSlowNative(t *testing.T) {
	q := NewQueue(profile.Processor{Kind: profile.Native}, protect.Off, 0, nil, 1)
	q.Break(0, Defect{Slow: ms})
	done, _ := served(q, 0, 3)
	at(t, "slow", done, ms, 2*ms, 3*ms)
	q.Break(3*ms, Defect{})
	done, _ = served(q, 3*ms, 2)
	at(t, "healthy again", done, 3*ms, 3*ms)
}

// A stalled brick ends what it has at hand, begins nothing until the stall is over, and makes up
// for no time that it stood still.
func TestStall(t *testing.T) {
	for _, tt := range []struct {
		kind string
		cost time.Duration
	}{{profile.Emulated, 5 * ms}, {profile.Native, 0}} {
		q := NewQueue(profile.Processor{Kind: tt.kind, Put: 10 * ms, Get: 5 * ms}, protect.Off, 0, nil, 1)
		q.Arrive(0, read(1, time.Second))
		if step := q.Next(0); step.Action != Serve || step.At != tt.cost {
			t.Errorf("%s: before the stall: %+v", tt.kind, step)
		}
		q.Break(2*ms, Defect{StallUntil: 100 * ms})
		q.Arrive(3*ms, read(2, time.Second))
		if step := q.Next(50 * ms); step.Action != Idle || step.At != 100*ms {
			t.Errorf("%s: in the stall: %+v", tt.kind, step)
		}
		q.Break(100*ms, Defect{}) // over, before the processor looks
		if step := q.Next(100 * ms); step.Action != Serve || step.At != 100*ms+tt.cost {
			t.Errorf("%s: after the stall: %+v", tt.kind, step)
		}
	}
}

func TestStallLifted(t *testing.T) {
	q := NewQueue(exact, protect.Off, 0, nil, 1)
	q.Break(0, Defect{StallUntil: time.Hour})
	q.Arrive(0, read(1, time.Second))
	q.Break(30*ms, Defect{})
	done, _ := served(q, 30*ms, 0)
	at(t, "lifted at 30 ms", done, 35*ms)
}

// A brick that is reset, as one that dies, is still as broken as it was.
func TestResetKeepsDefect(t *testing.T) {
	q := NewQueue(exact, protect.Off, 0, nil, 1)
	q.Break(0, Defect{StallUntil: 100 * ms, Slow: ms})
	q.Arrive(0, read(1, time.Second))
	q.Reset(func(Op) {})
	done, _ := served(q, 10*ms, 1)
	at(t, "reset in a stall", done, 106*ms)
}

// So many replies are dropped, the same ones for the same seed, and the costs are
// those of a healthy brick.
func TestDrop(t *testing.T) {
	jittery := exact
	jittery.Jitter = 0.5
	const reads = 10_000
	run := func(seed uint64, d Defect) ([]time.Duration, int) {
		q := NewQueue(jittery, protect.Off, 0, nil, seed)
		q.Break(0, d)
		return served(q, 0, reads)
	}
	healthy, none := run(1, Defect{})
	done, some := run(1, Defect{Drop: 0.3})
	_, again := run(1, Defect{Drop: 0.3})
	_, other := run(2, Defect{Drop: 0.3})
	_, all := run(1, Defect{Drop: 1})
	at(t, "with drops", done, healthy...)
	if none != 0 || all != reads || some < reads*28/100 || some > reads*32/100 {
		t.Errorf("of %d replies %d are dropped without a defect, %d at 30 %%, %d at 100 %%", reads, none, some, all)
	}
	if again != some || other == some {
		t.Errorf("%d, %d again and %d with another seed", some, again, other)
	}
}

// A defect costs no allocation for an operation.
func TestDefectAllocations(t *testing.T) {
	q := NewQueue(exact, protect.Off, 0, nil, 1)
	q.Break(0, Defect{Drop: 0.5, Slow: ms, StallUntil: ms})
	now := time.Duration(0)
	op := read(1, time.Hour)
	q.Arrive(now, op)
	if n := testing.AllocsPerRun(1000, func() {
		now += 20 * ms
		q.Next(now)
		q.Arrive(now, op)
	}); n > 0 {
		t.Errorf("%.0f allocations for an operation", n)
	}
}

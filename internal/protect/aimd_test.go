package protect

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const timeout = 60 * time.Millisecond

// play tells a window of answers (+) and time-outs (-).
func play(w Window, events string) {
	for i, e := range events {
		now := time.Duration(i) * time.Millisecond
		if e == '+' {
			w.Ack(now, 5*time.Millisecond)
		} else {
			w.Timeout(now, 1)
		}
	}
}

func TestAIMD(t *testing.T) {
	tests := []struct {
		name   string
		events string
		want   float64
	}{
		{"starts at 1", "", 1},
		{"an answer adds 1/window", "+", 2},
		{"and again", "++", 2.5},
		{"and again", "+++", 2.9},
		{"a time-out halves", "++++-", (2.9 + 1/2.9) / 2},
		{"floor", "-", 1},
		{"floor after growth", "++---", 1},
		{"grows from the floor as from the start", "++---+", 2},
		{"halves and grows", "+++-+", 1.45 + 1/1.45},
		{"cap", strings.Repeat("+", 600_000), 1000},
		{"halves from the cap", strings.Repeat("+", 600_000) + "-", 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newAIMD()
			play(w, tt.events)
			if math.Abs(w.Size()-tt.want) > 1e-12 {
				t.Errorf("window %v, want %v", w.Size(), tt.want)
			}
		})
	}
}

// timeOut tells a window of nothing but time-outs for an hour.
func timeOut(w Window, now time.Duration) time.Duration {
	for range 60_000 {
		now += timeout
		w.Timeout(now, 1)
	}
	return now
}

// comesBack reports whether a window admits an operation within a few rounds of turns, with no
// word from the brick.
func comesBack(w Window, now time.Duration) bool {
	for end := now + 10*time.Second; now < end; now += 50 * time.Microsecond {
		if w.Admit(now, 0) {
			return true
		}
	}
	return false
}

// As many answers as the window has room for, all of one round trip, add about one.
func TestAIMDGrowsByOnePerRoundTrip(t *testing.T) {
	w := newAIMD()
	for trip := range 100 {
		before := w.Size()
		room := math.Floor(before)
		for range int(room) {
			w.Ack(0, 0)
		}
		// Every answer adds at most 1/before, and at least 1/(before+1).
		if grown := w.Size() - before; grown < room/(before+1)-1e-9 || grown > room/before+1e-9 {
			t.Fatalf("round trip %d: %v grew by %v", trip, before, grown)
		}
	}
}

// givesUp are ways to give a brick up for good that a policy must not take.
var givesUp = map[string]func() Window{
	"a whole one or none": func() Window {
		return &shrinking{size: 1, admits: func(_ time.Duration, size float64, inFlight int) bool { return float64(inFlight+1) <= size }}
	},
	"turns that come to nothing": func() Window {
		return &shrinking{size: 1, admits: func(now time.Duration, size float64, _ int) bool {
			return ((now + time.Microsecond) % time.Second).Seconds() < size
		}}
	},
	"turns ever more seldom": func() Window { return newSeldom() },
}

// shrinking has seven tenths of its size after every time-out, and no floor.
type shrinking struct {
	open
	size   float64
	admits func(now time.Duration, size float64, inFlight int) bool
}

func (w *shrinking) Admit(now time.Duration, inFlight int) bool {
	return w.admits(now, w.size, inFlight)
}
func (w *shrinking) Timeout(time.Duration, int) { w.size *= 0.7 }
func (w *shrinking) Size() float64              { return w.size }

// seldom waits twice as long after every time-out before it asks again.
type seldom struct {
	open
	wait, until time.Duration
}

func newSeldom() *seldom { return &seldom{wait: timeout} }

func (w *seldom) Admit(now time.Duration, _ int) bool { return now >= w.until }
func (w *seldom) Timeout(now time.Duration, _ int) {
	w.wait = min(2*w.wait, time.Hour)
	w.until = now + w.wait
}

// The check of a policy that never gives up finds those that do.
func TestComesBackFindsThoseThatDoNot(t *testing.T) {
	for name, newWindow := range givesUp {
		if w := newWindow(); comesBack(w, timeOut(w, 0)) {
			t.Errorf("%s passes", name)
		}
	}
}

// Whatever happens, a policy keeps to its window, answers a time-out by less and never
// gives a brick up for good, however many time-outs there have been.
func TestPoliciesHoldTheirWindow(t *testing.T) {
	for _, p := range Policies() {
		t.Run(p.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := p.New(timeout, 1)
				if !w.Admit(0, 0) {
					t.Fatal("a brick that has just been met is not asked")
				}
				now, inFlight := time.Duration(0), 0
				for range rapid.IntRange(0, 300).Draw(t, "events") {
					now += time.Duration(rapid.IntRange(0, 50).Draw(t, "after ms")) * time.Millisecond
					before := w.Size()
					switch event := rapid.IntRange(0, 4).Draw(t, "event"); {
					case event < 2:
						if w.Admit(now, inFlight) {
							inFlight++
							if float64(inFlight) > math.Ceil(max(1, before)) {
								t.Fatalf("window %v admits %d", before, inFlight)
							}
						}
					case event == 4:
						w.Share(rapid.Float64Range(1e-3, 100).Draw(t, "share"))
					case inFlight == 0:
					case event == 2:
						inFlight--
						w.Ack(now, time.Duration(rapid.Int64Range(0, int64(timeout)).Draw(t, "rtt")))
					default:
						inFlight--
						if w.Timeout(now, inFlight+1); w.Size() > before {
							t.Fatalf("a time-out widened the window from %v to %v", before, w.Size())
						}
					}
					if !(w.Size() >= 0) || math.IsInf(w.Size(), 0) != (p.Name == "off") {
						t.Fatalf("window %v", w.Size())
					}
				}
				if !comesBack(w, now) {
					t.Fatalf("window %v: given up for good", w.Size())
				}
				if now = timeOut(w, now); !comesBack(w, now) {
					t.Fatalf("window %v after an hour of time-outs: given up for good", w.Size())
				}
			})
		})
	}
}

func TestAIMDAdmit(t *testing.T) {
	tests := []struct {
		size     float64
		inFlight int
		want     bool
	}{
		{1, 0, true},
		{1, 1, false},
		{1.99, 1, false},
		{2, 1, true},
		{2, 2, false},
		{2.9, 1, true},
		{2.9, 2, false},
		{1000, 999, true},
		{1000, 1000, false},
		{1, 12, false}, // what was sent before the window came into force
	}
	for _, tt := range tests {
		w := &aimd{size: tt.size}
		if got := w.Admit(0, tt.inFlight); got != tt.want {
			t.Errorf("window %v with %d in flight admits one more: %v, want %v", tt.size, tt.inFlight, got, tt.want)
		}
		if w.size != tt.size {
			t.Errorf("asking moved the window from %v to %v", tt.size, w.size)
		}
	}
}

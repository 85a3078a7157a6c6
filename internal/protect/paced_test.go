package protect

import (
	"testing"
	"time"
)

const (
	quick = timeout / 10     // an answer without a queue
	slow  = timeout * 7 / 10 // at the end of the span: a sign of overload for sure
)

func newTestPaced() *paced { return newPaced(timeout, 1).(*paced) }

// Answers without a queue widen the window by about one in a round trip.
func TestPacedGrows(t *testing.T) {
	w := newTestPaced()
	now := time.Duration(0)
	for range 100 {
		now += quick
		w.Ack(now, quick)
	}
	if w.Size() < 13 || w.Size() > 15 { // the sum of 1/window over 100 answers
		t.Errorf("window %v after 100 quick answers, want about 14", w.Size())
	}
}

// A wide window is cut once in a round trip, the more the slower the answers are.
func TestPacedCutsOncePerRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		rtt  time.Duration
		want float64
	}{
		{timeout / 2, 12}, {slow, 8}, {timeout, 8},
	} {
		w := newTestPaced()
		w.size = 16
		at := time.Second
		w.Ack(at, tt.rtt)
		w.Ack(at+1, tt.rtt) // sent before the cut, so it says nothing new
		if diff := w.Size() - tt.want; diff > 0.1 || diff < -0.1 {
			t.Errorf("answers after %v: window %v, want %v", tt.rtt, w.Size(), tt.want)
		}
	}
}

// A window of one is a turn: it ends with a slow answer, nothing goes out for about the
// pause, and then the stub is back.
func TestPacedTakesTurns(t *testing.T) {
	w := newTestPaced()
	now := time.Second
	w.Ack(now, slow)
	if w.Size() != 0 || w.Admit(now, 0) {
		t.Fatalf("window %v after an answer at the end of the span, want none", w.Size())
	}
	pause := time.Duration(float64(timeout) / w.turns)
	if now += pause / 2; w.Admit(now, 0) {
		t.Error("back before half of the pause")
	}
	if now += pause; !w.Admit(now, 0) || w.Size() != 1 {
		t.Errorf("window %v one and a half pauses later, want 1", w.Size())
	}
	if w.Admit(now, 1) {
		t.Error("two operations in one turn")
	}
}

// Turns that end with their first answer make the next ones rarer, longer turns make
// them more frequent.
func TestPacedAdaptsItsPause(t *testing.T) {
	w := newTestPaced()
	before := w.turns
	w.Ack(0, slow)
	if w.turns >= before {
		t.Errorf("turns %v after one of a single answer, before %v", w.turns, before)
	}
	before = w.turns
	w.size, w.answers = 1, 0
	w.Ack(0, timeout*3/10) // no delay, no change: on the target
	w.size = 1
	w.Ack(0, slow)
	if w.turns <= before {
		t.Errorf("turns %v after one of two answers, before %v", w.turns, before)
	}
}

func TestAIMD2004(t *testing.T) {
	w := newAIMD2004(timeout, 1)
	if w.Size() != 250 {
		t.Errorf("starts at %v, want 250", w.Size())
	}
	w.Ack(0, quick)
	if w.Size() != 251 {
		t.Errorf("%v after an answer, want 251", w.Size())
	}
	w.Timeout(time.Second, 80)
	if w.Size() != 50 {
		t.Errorf("%v after a time-out with 80 in flight, want 50", w.Size())
	}
	w.Timeout(time.Second+timeout/2-1, 16)
	if w.Size() != 50 {
		t.Errorf("%v: cut twice in half a time-out", w.Size())
	}
	w.Timeout(time.Second+timeout/2, 1)
	if w.Size() != 1 {
		t.Errorf("%v, want the floor of 1", w.Size())
	}
}

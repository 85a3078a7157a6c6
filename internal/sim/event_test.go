package sim

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// dumb is a queue of events that is right without being clever: it is sorted, and
// events of the same instant stay as they came.
type dumb []event

func (q *dumb) push(e event) {
	*q = append(*q, e)
	slices.SortStableFunc(*q, func(a, b event) int { return int(a.at - b.at) })
}

func (q *dumb) pop(end time.Duration) (event, bool) {
	if len(*q) == 0 || (*q)[0].at > end {
		return event{}, false
	}
	e := (*q)[0]
	*q = (*q)[1:]
	return e, true
}

// The wheel hands events out as the dumb queue does, whatever lies within its turn,
// beyond it, or in the same instant.
func TestEventsAgainstDumbQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newEvents(uint(rapid.IntRange(3, 16).Draw(t, "span")))
		var oracle dumb
		now := epoch
		turn := time.Duration(wheelSize) << q.span
		ahead := rapid.OneOf(
			rapid.Just(time.Duration(0)),
			rapid.Map(rapid.IntRange(1, 100), func(n int) time.Duration { return time.Duration(n) }),
			rapid.Map(rapid.IntRange(-2, 2), func(n int) time.Duration { return turn + time.Duration(n)<<q.span }),
			rapid.Map(rapid.IntRange(0, 4000), func(n int) time.Duration { return turn * time.Duration(n) / 1000 }),
		)
		for i := range uint32(rapid.IntRange(1, 400).Draw(t, "steps")) {
			if rapid.Bool().Draw(t, "push") {
				e := event{at: now + ahead.Draw(t, "ahead"), kind: requestArrives, slot: i}
				q.push(e)
				oracle.push(e)
				continue
			}
			end := now + ahead.Draw(t, "end")
			got, ok := q.pop(end)
			want, wantOK := oracle.pop(end)
			if got != want || ok != wantOK {
				t.Fatalf("by %v: %+v %v, want %+v %v", end, got, ok, want, wantOK)
			}
			now = max(now, got.at)
			if !ok {
				now = end
			}
		}
		for len(oracle) > 0 {
			want, _ := oracle.pop(1 << 62)
			if got, ok := q.pop(1 << 62); !ok || got != want {
				t.Fatalf("at the end: %+v %v, want %+v", got, ok, want)
			}
		}
	})
}

// However long it runs, the queue needs no more nodes than events have been planned
// at once.
func TestEventsReuseNodes(t *testing.T) {
	q := newEvents(14)
	now := epoch
	for range 100 {
		q.push(event{at: now})
	}
	for range 100_000 {
		e, _ := q.pop(1 << 62)
		now = e.at
		q.push(event{at: now + 20*time.Millisecond})
	}
	if n := len(q.nodes); n != 101 {
		t.Errorf("%d nodes for 100 events", n-1)
	}
}

func TestSpanOf(t *testing.T) {
	for _, tt := range []struct {
		users int
		want  time.Duration // of a slot, at most
	}{
		{12, 10 * time.Millisecond / 12},
		{540, 10 * time.Millisecond / 540},
		{12_000, 10 * time.Millisecond / 12_000},
		{1_000_000, 250}, // no shorter: a turn must not be too short
	} {
		span := time.Duration(1) << spanOf(tt.users)
		if span > tt.want*2 || span < tt.want/8 {
			t.Errorf("%d users: slots of %v, want about %v", tt.users, span, tt.want)
		}
	}
}

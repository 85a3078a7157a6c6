package loadgen

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestScheduleAgainstSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s schedule
		var sorted []time.Duration
		for user := range rapid.IntRange(0, 200).Draw(t, "turns") {
			if len(sorted) > 0 && rapid.IntRange(0, 2).Draw(t, "pop") == 0 {
				if got := s.pop(); got.at != sorted[0] {
					t.Fatalf("the earliest turn is at %v, want %v", got.at, sorted[0])
				}
				sorted = sorted[1:]
			}
			at := time.Duration(rapid.IntRange(0, 50).Draw(t, "at"))
			s.push(due{at: at, user: int32(user)})
			sorted = append(sorted, at)
			slices.Sort(sorted)
		}
		seen := make(map[int32]bool)
		for _, want := range sorted {
			got := s.pop()
			if got.at != want || seen[got.user] {
				t.Fatalf("turn %+v, want one at %v of a user not seen yet", got, want)
			}
			seen[got.user] = true
		}
		if len(s) > 0 {
			t.Fatalf("%d turns are left over", len(s))
		}
	})
}

func TestScheduleAllocatesNothing(t *testing.T) {
	var s schedule
	for i := range 100 {
		s.push(due{at: time.Duration(i)})
	}
	if n := testing.AllocsPerRun(1000, func() { s.push(due{at: s.pop().at + 100}) }); n > 0 {
		t.Errorf("a turn allocates %v times", n)
	}
}

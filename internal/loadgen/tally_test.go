package loadgen

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// told is what a recorder of one machine reports of a warm-up second, two measured ones and
// one more, with n attempts that are OK in each.
func told(t *testing.T, n int, latency time.Duration) []Interval {
	t.Helper()
	r := NewRecorder(second, 2, 0, 1)
	r.Start(0)
	for now := time.Duration(0); now < 4*second; now += second {
		for range n {
			r.Attempt(now, Attempt{Outcome: session.OK, Latency: latency, Rest: ms})
		}
		r.Attempt(now, Attempt{Op: session.Read, Outcome: session.Refused, Latency: ms, Lost: true})
		r.Late(now)
	}
	intervals, err := r.Cut(4 * second)
	if err != nil {
		t.Fatal(err)
	}
	return intervals
}

// twoParts tallies a slow machine and a fast one, which disagree on the setting in second 1.
func twoParts(t *testing.T) *Tally {
	t.Helper()
	tally := NewTally(Point{Index: 3, Machines: 2, Policy: "aimd"}, 2, 2)
	slow, fast := told(t, 10, 40*ms), told(t, 30, 10*ms)
	for i := range slow {
		slow[i].Protection, fast[i].Protection = "on", "on"
		if slow[i].Second == 1 {
			fast[i].Protection = "off"
		}
		if whole, err := tally.Add(0, &slow[i]); whole || err != nil {
			t.Fatalf("one part of two: whole %v, error %v", whole, err)
		}
		if whole, err := tally.Add(1, &fast[i]); !whole || err != nil {
			t.Fatalf("both parts: whole %v, error %v", whole, err)
		}
	}
	return tally
}

func TestTallySeconds(t *testing.T) {
	got, err := twoParts(t).Seconds()
	if err != nil {
		t.Fatal(err)
	}
	var want []result.Second
	for i, protection := range []string{"on", "on", result.Mixed} {
		s := result.Second{Level: 3, Second: i - 1, Machines: 2, Policy: "aimd", Protection: protection, Late: 2}
		s.Count[session.OK], s.Count[session.Refused] = 40, 2
		want = append(want, s)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(result.Second{}, "P50", "P99")); diff != "" {
		t.Errorf("seconds (-want +got):\n%s", diff)
	}
	for _, s := range got {
		if s.P50 < 10*ms || s.P50 > 10100*time.Microsecond || s.P99 < 40*ms || s.P99 > 40400*time.Microsecond {
			t.Errorf("second %d: p50 %v, p99 %v; want those of both parts, 10ms and 40ms", s.Second, s.P50, s.P99)
		}
	}
}

func TestTallySums(t *testing.T) {
	tally := twoParts(t)
	if diff := cmp.Diff([]int{-1, 0, 1}, tally.Whole()); diff != "" {
		t.Errorf("whole seconds (-want +got):\n%s", diff)
	}
	if n := tally.Histograms().Count(session.Write, session.OK); n != 80 {
		t.Errorf("%d attempts in the measured seconds, want 80", n)
	}
	measured, busy, rest := tally.Presence()
	if measured != 2*second || busy != 2*(10*40+30*10+2)*ms || rest != 80*ms {
		t.Errorf("measured %v, busy %v, rest %v", measured, busy, rest)
	}
	if tally.Lost() != 8 {
		t.Errorf("%d states lost, want 8", tally.Lost())
	}
}

func TestTallyOfOnePart(t *testing.T) {
	tally := NewTally(Point{}, 2, 2)
	parts := [][]Interval{told(t, 1, ms), told(t, 2, ms)}
	parts[0][1].Protection = "off" // the other has no machine, and no say
	for part := range parts {
		if _, err := tally.Add(part, &parts[part][1]); err != nil {
			t.Fatal(err)
		}
	}
	for part, want := range []uint64{1, 2} {
		s, err := tally.Second(0, part)
		if err != nil || s.Count[session.OK] != want {
			t.Errorf("part %d: %+v, error %v, want %d attempts", part, s, err, want)
		}
	}
	if s, err := tally.Second(0); err != nil || s.Protection != "off" || s.Count[session.OK] != 3 {
		t.Errorf("both: %+v, error %v", s, err)
	}
}

func TestTallyErrors(t *testing.T) {
	tally := NewTally(Point{}, 1, 2)
	intervals := told(t, 1, ms)
	if _, err := tally.Add(0, &intervals[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := tally.Add(0, &intervals[1]); err == nil {
		t.Error("a second that comes twice is taken")
	}
	intervals[2].Latency[0].Data = []byte("no histogram")
	if _, err := tally.Add(0, &intervals[2]); err == nil {
		t.Error("a histogram that is none is taken")
	}
}

// What a part has told before it went stays, and seconds that only waited for it are whole.
func TestTallyDrop(t *testing.T) {
	tally := NewTally(Point{Machines: 2}, 2, 2)
	stays, goes := told(t, 10, ms), told(t, 30, ms)
	for i := range stays {
		if _, err := tally.Add(0, &stays[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 { // the warm-up and second 0
		if _, err := tally.Add(1, &goes[i]); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := tally.Drop(1)
	if diff := cmp.Diff([]int{1, 2}, whole); diff != "" || err != nil {
		t.Errorf("whole by the drop (-want +got):\n%s, error %v", diff, err)
	}
	if n := tally.Histograms().Count(session.Write, session.OK); n != 40+10 {
		t.Errorf("%d attempts in the measured seconds, want 50", n)
	}
	seconds, err := tally.Seconds()
	if err != nil || len(seconds) != 3 || seconds[1].Count[session.OK] != 40 || seconds[2].Count[session.OK] != 10 {
		t.Errorf("seconds %+v, error %v", seconds, err)
	}
	if gone, err := tally.Seconds(1); err != nil || len(gone) != 2 {
		t.Errorf("the part that went has %d seconds, want 2; error %v", len(gone), err)
	}
	if measured, _, _ := tally.Presence(); measured != 2*second {
		t.Errorf("measured %v", measured)
	}
}

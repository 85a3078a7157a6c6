package loadgen

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

const (
	ms     = time.Millisecond
	second = time.Second
)

// startAt is an instant that no second begins at by chance.
const startAt = 1234567 * time.Microsecond

// started is a recorder with two warm-up seconds and three measured ones, of machines 10 and 11.
func started() *Recorder {
	r := NewRecorder(2*second, 3, 10, 2)
	r.Start(startAt)
	return r
}

func cut(t *testing.T, r *Recorder, at time.Duration) []Interval {
	t.Helper()
	intervals, err := r.Cut(startAt + at)
	if err != nil {
		t.Fatal(err)
	}
	return intervals
}

func attempt(machine int, o session.Outcome) Attempt {
	return Attempt{Machine: machine, Outcome: o, Latency: 5 * ms, Rest: 20 * ms}
}

func TestRecorderSeconds(t *testing.T) {
	r := started()
	for _, at := range []time.Duration{0, second - 1, second, 2*second - 1, 2 * second, 3*second - 1, 3 * second, 5*second + 1} {
		r.Attempt(startAt+at, attempt(10, session.OK))
	}
	got := make(map[int]uint64)
	for i, interval := range cut(t, r, 6*second) {
		if interval.Second != i-2 {
			t.Errorf("interval %d is second %d", i, interval.Second)
		}
		got[interval.Second] = interval.Count[session.OK]
	}
	want := map[int]uint64{-2: 2, -1: 2, 0: 2, 1: 1, 2: 0, 3: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attempts by second (-want +got):\n%s", diff)
	}
	// Neither the warm-up nor what comes after the last second counts for a machine.
	if diff := cmp.Diff([]uint64{3, 0}, r.PerMachine()); diff != "" {
		t.Errorf("measured by machine (-want +got):\n%s", diff)
	}
}

func TestRecorderWarmupOfPartSeconds(t *testing.T) {
	r := NewRecorder(1500*ms, 1, 0, 1)
	r.Start(startAt)
	r.Attempt(startAt, attempt(0, session.OK))
	r.Attempt(startAt+500*ms, attempt(0, session.Timeout))
	r.Attempt(startAt+1500*ms, attempt(0, session.Rejected))
	intervals := cut(t, r, 2500*ms)
	if len(intervals) != 3 || intervals[0].Second != -2 || intervals[0].Count[session.OK] != 1 ||
		intervals[1].Count[session.Timeout] != 1 || intervals[2].Second != 0 || intervals[2].Count[session.Rejected] != 1 {
		t.Errorf("intervals %+v", intervals)
	}
}

// A machine that is a moment behind records in the second that another has opened.
func TestRecorderLateMachine(t *testing.T) {
	r := started()
	r.Attempt(startAt+3100*ms, attempt(10, session.OK))
	r.Attempt(startAt+2900*ms, attempt(11, session.OK))
	r.Late(startAt + 2950*ms)
	intervals := cut(t, r, 4*second)
	if last := intervals[len(intervals)-1]; last.Second != 1 || last.Count[session.OK] != 2 || last.Late != 1 {
		t.Errorf("the second that was open: %+v", last)
	}
}

func TestRecorderCutReturnsEachSecondOnce(t *testing.T) {
	r := started()
	var seconds []int
	for at := time.Duration(0); at <= 5*second; at += 300 * ms {
		r.Attempt(startAt+at, attempt(10, session.OK))
		for _, interval := range cut(t, r, at) {
			seconds = append(seconds, interval.Second)
		}
	}
	if n := len(cut(t, r, 4*second)); n > 0 {
		t.Errorf("%d seconds came out again", n)
	}
	if diff := cmp.Diff([]int{-2, -1, 0, 1}, seconds); diff != "" {
		t.Errorf("seconds at 4.8 s (-want +got):\n%s", diff)
	}
}

func TestRecorderSums(t *testing.T) {
	r := started()
	at := startAt + 2*second
	for o := range session.NumOutcomes {
		for range o + 1 {
			r.Attempt(at, attempt(11, o))
		}
	}
	r.Attempt(at, Attempt{Machine: 11, Op: session.Read, Outcome: session.Refused, Lost: true, Latency: ms})
	r.Late(at)
	r.Setting(at, protect.On, true)
	intervals := cut(t, r, 3*second)
	got := intervals[2]
	h := result.NewHistograms()
	for _, e := range got.Latency {
		if err := h.MergeEncoded(e); err != nil {
			t.Fatal(err)
		}
	}
	got.Latency = nil
	want := Interval{
		Count: [session.NumOutcomes]uint64{1, 2, 3, 5, 5, 6}, Late: 1, Lost: 1, Protection: "on",
		Busy: 21*5*ms + ms, Rest: 21 * 20 * ms,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("second 0 (-want +got):\n%s", diff)
	}
	if w, rd := h.Count(session.Write, session.Wrong), h.Count(session.Read, session.Refused); w != 6 || rd != 1 {
		t.Errorf("histograms hold %d wrong writes and %d refused reads, want 6 and 1", w, rd)
	}
}

// The setting is that at the second's end, and it lasts.
func TestRecorderSetting(t *testing.T) {
	r := NewRecorder(0, 5, 0, 1)
	r.Setting(startAt-second, protect.On, true)
	r.Start(startAt)
	r.Setting(startAt+1500*ms, protect.Off, true)
	r.Setting(startAt+1600*ms, protect.DiscardOnly, true)
	r.Setting(startAt+3*second, protect.On, false)
	var got []string
	for _, interval := range cut(t, r, 5*second) {
		got = append(got, interval.Protection)
	}
	if diff := cmp.Diff([]string{"on", "discard", "discard", result.Mixed, result.Mixed}, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestRecorderTakesNothingBeforeItsStart(t *testing.T) {
	r := NewRecorder(0, 1, 0, 1)
	r.Attempt(startAt-ms, attempt(0, session.OK))
	r.Late(startAt - ms)
	r.Lag(startAt-ms, second)
	if n := len(cut(t, r, -ms)); n > 0 {
		t.Errorf("%d seconds before the start", n)
	}
	r.Start(startAt)
	intervals := cut(t, r, second)
	if got := intervals[0]; len(intervals) != 1 || got.Count[session.OK] != 0 || got.Late != 0 || got.Busy != 0 || len(got.Latency) > 0 {
		t.Errorf("intervals %+v", intervals)
	}
	if r.PerMachine()[0] != 0 || r.LagAt(1) != 0 {
		t.Errorf("%d attempts of the machine, a lag of %v", r.PerMachine()[0], r.LagAt(1))
	}
}

func TestRecorderLag(t *testing.T) {
	r := started()
	r.Lag(startAt, second) // warm-up
	for i := range 100 {
		r.Lag(startAt+2*second, time.Duration(i)*ms)
	}
	if p50, worst := r.LagAt(0.5), r.LagAt(1); p50 < 48*ms || p50 > 51*ms || worst < 99*ms || worst > 100*ms {
		t.Errorf("p50 %v, worst %v; want 49ms and 99ms", p50, worst)
	}
	r.Lag(startAt+2*second, time.Hour)
	if worst := r.LagAt(1); worst < time.Minute || worst > 61*second {
		t.Errorf("an hour counts as %v, want the most that can be told", worst)
	}
	r.Lag(startAt+5*second, ms) // after the last second
	if n := r.lag.TotalCount(); n != 101 {
		t.Errorf("%d turns of the measured seconds, want 101", n)
	}
}

// What a recorder adds up itself, it does not encode.
func TestRecorderKeepsTotals(t *testing.T) {
	r := NewRecorder(second, 2, 0, 1)
	r.KeepTotals()
	r.Start(startAt)
	for i := range 4 { // the warm-up, two measured seconds, one after them
		r.Attempt(startAt+time.Duration(i)*second, Attempt{Outcome: session.OK, Latency: time.Duration(i+1) * 10 * ms})
	}
	intervals := cut(t, r, 4*second)
	for i, interval := range intervals {
		want := time.Duration(i+1) * 10 * ms
		if len(interval.Latency) > 0 || interval.P50 < want || interval.P99 > want+want/500 {
			t.Errorf("second %d: %d histograms, p50 %v, p99 %v, want %v", interval.Second, len(interval.Latency), interval.P50, interval.P99, want)
		}
	}
	if n := r.Totals().Count(session.Write, session.OK); len(intervals) != 4 || n != 2 {
		t.Errorf("%d seconds, %d attempts in the totals, want 4 and 2", len(intervals), n)
	}
}

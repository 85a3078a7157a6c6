package result

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// seriesOf makes a level of a warm-up second that must not matter, and so much goodput a
// second; what is missing to 1000 was rejected, and 3 more timed out.
func seriesOf(goodput ...uint64) []Second {
	seconds := []Second{{Second: -1}}
	for i, n := range goodput {
		s := Second{Second: i}
		s.Count[session.OK], s.Count[session.Rejected], s.Count[session.Timeout] = n, 1000-n, 3
		seconds = append(seconds, s)
	}
	return seconds
}

func TestRecoveries(t *testing.T) {
	const s = time.Second
	span := Span{3 * s, 5 * s}
	for _, tt := range []struct {
		name   string
		series []Second
		faults []Span // the first is judged
		lowest float64
		back   time.Duration // -1 if not seen
		why    string
	}{
		{"no effect", seriesOf(1000, 1000, 1000, 990, 1000, 1000, 1000, 1000, 1000), []Span{span}, 990, 0, ""},
		{"back at once", seriesOf(1000, 1000, 1000, 0, 500, 1000, 1000, 1000, 1000), []Span{span}, 0, 0, ""},
		{"back after two", seriesOf(1000, 1000, 1000, 0, 500, 0, 0, 990, 990, 990), []Span{span}, 0, 2 * s, ""},
		{"just enough", seriesOf(1000, 1000, 1000, 0, 500, 950, 950, 950), []Span{span}, 0, 0, ""},
		{"just too little", seriesOf(1000, 1000, 1000, 0, 500, 950, 950, 949), []Span{span}, 0, -1, "not within the level"},
		{"one bad second is noise", seriesOf(1000, 1000, 1000, 0, 500, 1000, 1000, 880, 1000, 1000), []Span{span}, 0, 0, ""},
		{"a relapse is none", seriesOf(1000, 1000, 1000, 0, 500, 1000, 1000, 0, 1000, 1000, 1000), []Span{span}, 0, 3 * s, ""},
		{"never", seriesOf(1000, 1000, 1000, 0, 0, 0, 0, 0, 0), []Span{span}, 0, -1, "not within the level"},
		{"at the very end", seriesOf(1000, 1000, 1000, 0, 0, 0, 0, 0, 1000), []Span{span}, 0, -1, "not within the level"},
		{"part of a second", seriesOf(1000, 1000, 1000, 0, 500, 0, 1000, 1000, 1000), []Span{{3200 * time.Millisecond, 4300 * time.Millisecond}}, 0, 1700 * time.Millisecond, ""},
		{"shorter than a second", seriesOf(1000, 1000, 1000, 700, 1000, 1000, 1000), []Span{{3200 * time.Millisecond, 3300 * time.Millisecond}}, 700, 700 * time.Millisecond, ""},
		{"over at once", seriesOf(1000, 1000, 1000, 700, 1000, 1000, 1000), []Span{{3200 * time.Millisecond, 3200 * time.Millisecond}}, 700, 800 * time.Millisecond, ""},
		{"over at once, on the second, twice", seriesOf(1000, 1000, 1000, 960, 1000, 1000), []Span{{3 * s, 3 * s}, {3 * s, 3 * s}}, 960, 0, ""},
		{"over at once in the last second", seriesOf(1000, 1000, 1000, 700), []Span{{3200 * time.Millisecond, 3200 * time.Millisecond}}, 700, -1, "it lasts to the end"},
		{"to the end", seriesOf(1000, 1000, 1000, 0, 500), []Span{span}, 0, -1, "it lasts to the end"},
		{"cut short before it", seriesOf(1000, 1000, 1000), []Span{span}, 0, -1, "it did not begin"},
		{"too little is left", seriesOf(1000, 1000, 1000, 0, 500, 1000, 1000), []Span{span}, 0, -1, "too short a time after it"},
		{"nothing before", seriesOf(0, 500, 1000, 1000, 1000), []Span{{500 * time.Millisecond, 2 * s}}, 0, -1, "no full second before the first fault"},
		{"another fault from the start", seriesOf(1000, 1000, 1000, 0, 500, 1000, 1000, 1000), []Span{span, {0, 8 * s}}, 0, -1, "no full second before the first fault"},
		{"nothing good before", seriesOf(0, 0, 0, 0, 500, 1000, 1000, 1000), []Span{span}, 0, -1, "no goodput before the first fault"},
		{"the next fault comes first", seriesOf(1000, 1000, 1000, 0, 500, 100, 100, 100, 1000, 1000, 1000), []Span{span, {8 * s, 9 * s}}, 0, -1, "not before the next fault"},
		{"judged up to the next fault", seriesOf(1000, 1000, 1000, 0, 500, 1000, 1000, 1000, 0, 0), []Span{span, {8 * s, 9 * s}}, 0, 0, ""},
		{"before is before them all", seriesOf(1000, 300, 300, 0, 500, 1000, 1000, 1000), []Span{span, {1 * s, 4 * s}}, 0, 0, ""},
	} {
		got := Recoveries(tt.series, tt.faults)[0]
		back := time.Duration(-1)
		if got.Back != nil {
			back = *got.Back
		}
		if got.Lowest != tt.lowest || back != tt.back || got.Why != tt.why {
			t.Errorf("%s: lowest %v, back %v, %q; want %v, %v, %q", tt.name, got.Lowest, back, got.Why, tt.lowest, tt.back, tt.why)
		}
	}
}

func TestRecoveriesCount(t *testing.T) {
	got := Recoveries(seriesOf(900, 800, 100, 300, 850, 850), []Span{{2 * time.Second, 4 * time.Second}})[0]
	if got.Before == nil || *got.Before != 850 || got.Rejected != 900+700 || got.Failed != got.Rejected+6 {
		t.Errorf("%+v", got)
	}
	if all := Recoveries(nil, []Span{{0, time.Second}}); all[0].Before != nil || all[0].Why != "it did not begin" {
		t.Errorf("of no series: %+v", all)
	}
}

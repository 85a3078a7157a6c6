package loadgen

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Tally adds up what the parts of a load report of one level, second by second. A
// part is a recorder: an agent's in a live run, the only one in a simulation.
type Tally struct {
	point    Point
	parts    int
	measured int    // seconds
	gone     []bool // parts that tell nothing more
	seconds  map[int][]*Interval
	hists    *result.Histograms // of the measured seconds
	lost     uint64
}

// NewTally returns an empty tally of a point that measures so many seconds.
func NewTally(p Point, parts, measured int) *Tally {
	return &Tally{
		point: p, parts: parts, measured: measured, gone: make([]bool, parts),
		seconds: make(map[int][]*Interval), hists: result.NewHistograms(),
	}
}

// Add takes in one part's second, and reports whether all parts have now told
// theirs. A second that comes twice, and a histogram that is none, are errors.
func (t *Tally) Add(part int, i *Interval) (whole bool, err error) {
	s := t.seconds[i.Second]
	if s == nil {
		s = make([]*Interval, t.parts)
		t.seconds[i.Second] = s
	}
	if s[part] != nil {
		return false, fmt.Errorf("second %d came twice", i.Second)
	}
	s[part] = i
	t.lost += i.Lost
	if !t.complete(s) {
		return false, nil
	}
	return true, t.merge(i.Second)
}

// Drop says that a part tells nothing more: it is gone, and later seconds are whole
// without it. Drop returns the seconds that are whole by that, in order. What the part has told
// stays in the figures.
func (t *Tally) Drop(part int) (whole []int, err error) {
	before := t.whole()
	t.gone[part] = true
	for _, n := range t.whole() {
		if slices.Contains(before, n) {
			continue
		}
		if err := t.merge(n); err != nil {
			return nil, err
		}
		whole = append(whole, n)
	}
	return whole, nil
}

// complete reports whether all parts have told of a second but those that are gone.
func (t *Tally) complete(s []*Interval) bool {
	for part, i := range s {
		if i == nil && !t.gone[part] {
			return false
		}
	}
	return true
}

// merge takes the latencies of a second that all parts have told. One that some never
// tell is in none of the figures.
func (t *Tally) merge(second int) error {
	if !t.isMeasured(second) {
		return nil
	}
	for _, i := range t.seconds[second] {
		if i == nil {
			continue // it was gone by then
		}
		for _, e := range i.Latency {
			if err := t.hists.MergeEncoded(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *Tally) isMeasured(second int) bool { return second >= 0 && second < t.measured }

// Whole returns the seconds that all parts have told, in order; those after the
// measured ones are left out.
func (t *Tally) Whole() []int {
	return slices.DeleteFunc(t.whole(), func(n int) bool { return n >= t.measured })
}

func (t *Tally) whole() []int {
	numbers := slices.Sorted(maps.Keys(t.seconds))
	return slices.DeleteFunc(numbers, func(n int) bool { return !t.complete(t.seconds[n]) })
}

// Second adds up one second over some of the parts, or over all of them.
func (t *Tally) Second(number int, parts ...int) (result.Second, error) {
	s := result.Second{Level: t.point.Index, Second: number, Machines: t.point.Machines, Policy: t.point.Policy}
	var hists *result.Histograms
	for part, i := range t.seconds[number] {
		if i == nil || (len(parts) > 0 && !slices.Contains(parts, part)) {
			continue
		}
		switch {
		case i.Protection == "": // a part without machines has no say
		case s.Protection == "":
			s.Protection = i.Protection
		case s.Protection != i.Protection:
			s.Protection = result.Mixed
		}
		for o, n := range i.Count {
			s.Count[o] += n
		}
		s.Late += i.Late
		s.P50, s.P99 = i.P50, i.P99
		for _, e := range i.Latency {
			if e.Outcome != session.OK {
				continue
			}
			if hists == nil {
				hists = result.NewHistograms()
			}
			if err := hists.MergeEncoded(e); err != nil {
				return s, err
			}
		}
	}
	if hists != nil {
		q := hists.OK()
		s.P50, s.P99 = q.P50, q.P99
	}
	return s, nil
}

// Totals takes over the histograms of a recorder that keeps them itself; it must be
// the only part.
func (t *Tally) Totals(h *result.Histograms) { t.hists = h }

// Seconds is Second for all whole seconds of which one of the parts has told.
func (t *Tally) Seconds(parts ...int) ([]result.Second, error) {
	var all []result.Second
	for _, n := range t.Whole() {
		if !t.told(n, parts) {
			continue
		}
		s, err := t.Second(n, parts...)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (t *Tally) told(second int, parts []int) bool {
	if len(parts) == 0 {
		return true
	}
	return slices.ContainsFunc(parts, func(part int) bool { return t.seconds[second][part] != nil })
}

// Histograms returns those of the measured seconds.
func (t *Tally) Histograms() *result.Histograms { return t.hists }

// Lost returns how many states a read found lost, the warm-up included.
func (t *Tally) Lost() uint64 { return t.lost }

// Presence returns the measured time so far and the sums of all users' waiting and
// resting in it, for the generator check.
func (t *Tally) Presence() (measured, busy, rest time.Duration) {
	for _, n := range t.Whole() {
		if n < 0 {
			continue
		}
		measured += time.Second
		for _, i := range t.seconds[n] {
			if i != nil {
				busy += i.Busy
				rest += i.Rest
			}
		}
	}
	return measured, busy, rest
}

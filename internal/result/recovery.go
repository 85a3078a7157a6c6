package result

import (
	"math"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// What counts as being back after a fault. Three seconds are a compromise: the count of one
// second is noise by some per cent, and a longer mean says later what it sees.
const (
	backShare   = 0.95 // of the goodput before
	backSeconds = 3    // of which the mean must reach it, wherever they begin
)

// Span is when a fault was there, since the end of the warm-up.
type Span struct{ From, Till time.Duration }

// Recovery is what a fault did to the goodput of its level, and when the goodput was
// back.
type Recovery struct {
	Before *float64 // goodput per second before the level's first fault; nil if no full second is
	Begun  bool     // the level lasted until the fault began; else there is nothing to say
	// What happened in the seconds that the fault touches.
	Lowest   float64 // goodput of the lowest of them, per second
	Failed   uint64  // attempts that were not ok
	Rejected uint64  // of these, the stubs' immediate noes
	// Back is the time from the fault's end to the second from which on goodput is back;
	// nil if that was not seen, and Why says why.
	Back *time.Duration
	Why  string
}

// Recoveries judges the faults of a level by its series, one by one.
//
// Goodput before is the mean of the full seconds between the warm-up and the first
// fault. It is back from the first full second after the fault's end on that begins a
// run in which every three consecutive seconds have a mean of at least 95 % of it; the run must
// last to the end of the level, or to the next fault that begins after this one's end.
func Recoveries(seconds []Second, faults []Span) []Recovery {
	var level []Second
	for i := range seconds {
		if seconds[i].Second >= 0 {
			level = append(level, seconds[i])
		}
	}
	first := time.Duration(math.MaxInt64)
	for _, f := range faults {
		first = min(first, f.From)
	}
	before := meanGoodput(level[:min(len(level), floor(first))])
	all := make([]Recovery, len(faults))
	for i, f := range faults {
		all[i] = Recovery{Before: before}
		all[i].during(level, f)
		all[i].after(level, f, faults)
	}
	return all
}

// floor and ceil count seconds of the series: the last that begins by d, the first that does
// not begin before it.
func floor(d time.Duration) int { return int(d / time.Second) }
func ceil(d time.Duration) int  { return int((d + time.Second - 1) / time.Second) }

func meanGoodput(seconds []Second) *float64 {
	if len(seconds) == 0 {
		return nil
	}
	var sum uint64
	for i := range seconds {
		sum += seconds[i].Count[session.OK]
	}
	mean := float64(sum) / float64(len(seconds))
	return &mean
}

func (r *Recovery) during(level []Second, f Span) {
	r.Begun = floor(f.From) < len(level)
	// One that is over at once touches the second that it falls in.
	for k := floor(f.From); k < min(max(ceil(f.Till), floor(f.From)+1), len(level)); k++ {
		count := &level[k].Count
		if ok := float64(count[session.OK]); k == floor(f.From) || ok < r.Lowest {
			r.Lowest = ok
		}
		for o, n := range count {
			if session.Outcome(o) != session.OK {
				r.Failed += n
			}
		}
		r.Rejected += count[session.Rejected]
	}
}

func (r *Recovery) after(level []Second, f Span, faults []Span) {
	end, until := len(level), "within the level"
	for _, next := range faults {
		if begins := floor(next.From); next != f && next.From >= f.Till && begins < end {
			end, until = begins, "before the next fault"
		}
	}
	begin := ceil(f.Till)
	switch {
	case !r.Begun:
		r.Why = "it did not begin"
	case begin >= len(level):
		r.Why = "it lasts to the end"
	case r.Before == nil:
		r.Why = "no full second before the first fault"
	case *r.Before == 0:
		r.Why = "no goodput before the first fault"
	case end-begin < backSeconds:
		r.Why = "too short a time after it"
	default:
		back := backFrom(level[:end], begin, backShare**r.Before)
		if back < 0 {
			r.Why = "not " + until
			return
		}
		d := time.Duration(back)*time.Second - f.Till
		r.Back = &d
	}
}

// backFrom is the first second, not before begin, from which on no mean of three lies below
// the goodput wanted; -1 if there is none.
func backFrom(level []Second, begin int, wanted float64) int {
	back := -1
	for k := len(level) - backSeconds; k >= begin; k-- {
		if *meanGoodput(level[k : k+backSeconds]) < wanted {
			break
		}
		back = k
	}
	return back
}

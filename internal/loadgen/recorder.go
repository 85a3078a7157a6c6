package loadgen

import (
	"fmt"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Attempt is what a machine tells the recorder of one attempt.
type Attempt struct {
	Machine int
	Op      session.Op
	Outcome session.Outcome
	Latency time.Duration
	Rest    time.Duration // what the user takes before its next
	Lost    bool
}

// Interval is one second of a load, of all machines that share a recorder. It
// belongs to the second in which its attempts ended.
type Interval struct {
	Second     int // 0 is the first after the warm-up; warm-up seconds are negative
	Count      [session.NumOutcomes]uint64
	Late       uint64
	Lost       uint64
	Protection string           // in force at its end; result.Mixed while bricks disagree, empty without machines
	Busy       time.Duration    // sum of the attempts' latencies
	Rest       time.Duration    // sum of the users' own times after them
	Latency    []result.Encoded // empty from a recorder that keeps totals
	P50, P99   time.Duration    // of ok attempts; only from a recorder that keeps totals
}

// The recorder's own delay is kept to two digits, which takes 20 KB.
const (
	lagHighest = int64(time.Minute)
	lagDigits  = 2
)

// Recorder gathers what happens on the machines of one process during a level, by
// second. Machines that run concurrently share it under a lock of their shell.
type Recorder struct {
	warmup  time.Duration
	zero    time.Duration // the start of second 0, once the load has started
	until   time.Duration // the end of the open second
	started bool
	last    int      // the last measured second
	first   int      // machine
	perUnit []uint64 // ok attempts of each of the level's own machines in the measured seconds
	open    Interval
	hist    *result.Histograms
	closed  []Interval
	totals  *result.Histograms // of the measured seconds, if they are kept here
	lag     *hdr.Histogram     // of the measured seconds
	err     error
}

// NewRecorder returns a recorder for machines numbered from first, and for guests, whose
// numbers are others and whose shares are not kept. Its series has
// a warm-up and then so many measured seconds; it begins with Start, and until then only settings are taken.
func NewRecorder(warmup time.Duration, measured, first, machines int) *Recorder {
	r := &Recorder{
		warmup: warmup, last: measured - 1, first: first,
		perUnit: make([]uint64, machines),
		hist:    result.NewHistograms(),
		lag:     hdr.New(int64(time.Microsecond), lagHighest, lagDigits),
	}
	return r
}

// Start begins the series.
func (r *Recorder) Start(now time.Duration) {
	r.zero, r.started = now+r.warmup, true
	r.open.Second = r.second(now)
	r.until = r.zero + time.Duration(r.open.Second+1)*time.Second
}

// second returns the number of the second that now lies in.
func (r *Recorder) second(now time.Duration) int {
	d := now - r.zero
	if d < 0 {
		return -int((-d + time.Second - 1) / time.Second)
	}
	return int(d / time.Second)
}

// at makes the second of now the open one. A machine that is a moment behind
// another records in the second that the other has opened.
func (r *Recorder) at(now time.Duration) (measured bool) {
	if !r.started {
		return false
	}
	for now >= r.until {
		r.close()
	}
	return r.open.Second >= 0 && r.open.Second <= r.last
}

// KeepTotals makes the recorder add up the histograms of the measured seconds itself,
// instead of encoding those of every second for a tally elsewhere. It comes before Start.
func (r *Recorder) KeepTotals() { r.totals = result.NewHistograms() }

// Totals returns what KeepTotals made it keep, or nil.
func (r *Recorder) Totals() *result.Histograms { return r.totals }

func (r *Recorder) close() {
	r.seal()
	r.closed = append(r.closed, r.open)
	r.hist.Reset()
	r.open = Interval{Second: r.open.Second + 1, Protection: r.open.Protection}
	r.until += time.Second
}

// seal puts the open second's latencies where they belong.
func (r *Recorder) seal() {
	if r.totals == nil {
		encoded, err := r.hist.Encode()
		if err != nil {
			r.err = err
		}
		r.open.Latency = encoded
		return
	}
	q := r.hist.OK()
	r.open.P50, r.open.P99 = q.P50, q.P99
	if r.open.Second >= 0 && r.open.Second <= r.last {
		r.totals.Merge(r.hist)
	}
}

// Attempt records the end of an attempt.
func (r *Recorder) Attempt(now time.Duration, a Attempt) {
	if !r.started {
		return
	}
	measured := r.at(now)
	r.open.Count[a.Outcome]++
	r.open.Busy += a.Latency
	r.open.Rest += a.Rest
	if a.Lost {
		r.open.Lost++
	}
	r.hist.Record(a.Op, a.Outcome, a.Latency)
	if own := a.Machine - r.first; measured && a.Outcome == session.OK && own >= 0 && own < len(r.perUnit) {
		r.perUnit[own]++
	}
}

// Late records a reply that came too late.
func (r *Recorder) Late(now time.Duration) {
	if !r.started {
		return
	}
	r.at(now)
	r.open.Late++
}

// Setting records the protection that a machine's bricks announce.
func (r *Recorder) Setting(now time.Duration, s protect.Setting, agreed bool) {
	r.at(now)
	r.open.Protection = s.String()
	if !agreed {
		r.open.Protection = result.Mixed
	}
}

// Lag records by how much a user's turn came later than planned.
func (r *Recorder) Lag(now, late time.Duration) {
	if r.at(now) {
		// In range, RecordValue cannot fail.
		_ = r.lag.RecordValue(min(int64(late), lagHighest))
	}
}

// Cut returns the seconds that have ended by now and were not returned before.
func (r *Recorder) Cut(now time.Duration) ([]Interval, error) {
	r.at(now)
	cut := r.closed
	r.closed = nil
	if r.err != nil {
		return cut, fmt.Errorf("recorder: %w", r.err)
	}
	return cut, nil
}

// PerMachine returns the ok attempts of each machine in the measured seconds.
func (r *Recorder) PerMachine() []uint64 {
	return append([]uint64(nil), r.perUnit...)
}

// LagAt returns the delay that share of all turns did not exceed; 0.99 is p99.
func (r *Recorder) LagAt(share float64) time.Duration {
	return time.Duration(r.lag.ValueAtQuantile(100 * share))
}

package watch

import (
	"math"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Statistic names one that bricks are compared by.
type Statistic string

// The statistics, those of the published detector (SSM, NSDI 2004). The first three are
// activities, per second; the others are sizes.
const (
	Reads    Statistic = "reads"    // served
	Writes   Statistic = "writes"   // served
	Drops    Statistic = "drops"    // requests that were not served: dropped, discarded, or refused for want of memory
	Inbox    Statistic = "inbox"    // operations waiting
	Memory   Statistic = "memory"   // bytes that hold states
	Elements Statistic = "elements" // states held
)

// side is where a deviation is a sign of a fault. A brick that does more than the others is
// not at fault: the others may be, or it has just come back with nothing to drag along.
type side int8

const (
	below  side = -1
	either side = 0
	above  side = 1
)

// measure is how a statistic is taken and judged.
type measure struct {
	name  Statistic
	bad   side
	share float64 // floor of the spread, as a share of the median
	least float64 // and in the statistic's own unit
	of    func(*session.BrickStats) uint64
}

// The floors keep bricks that are all but equal from alarming at trifles: the spread of a
// few bricks is at times far smaller than it is at others. All are chosen by simulation of clean load.
// An activity's floor is also what chance alone makes of so many events, the root of their number.
var measures = []measure{
	{Elements, either, 0.05, 10, func(s *session.BrickStats) uint64 { return s.Sessions }}, // first: reads need it
	{Reads, below, 0.05, 0, func(s *session.BrickStats) uint64 { return s.Reads }},
	{Writes, below, 0.05, 0, func(s *session.BrickStats) uint64 { return s.Writes }},
	{Drops, above, 0.2, 8, func(s *session.BrickStats) uint64 { return s.Discarded + s.Dropped + s.Full }},
	{Inbox, above, 0.5, 10, func(s *session.BrickStats) uint64 { return s.InboxLen }},
	{Memory, either, 0.05, 4096, func(s *session.BrickStats) uint64 { return s.Bytes }},
}

// activity reports whether a statistic is one per second.
func (s Statistic) activity() bool { return s == Reads || s == Writes || s == Drops }

// floor is the least spread that is believed, over so long a time.
func (m *measure) floor(median float64, over time.Duration) float64 {
	f := max(m.share*median, m.least)
	if m.name.activity() {
		f = max(f, math.Sqrt(max(median*over.Seconds(), 1))/over.Seconds())
	}
	return f
}

// Deviation is a statistic of one brick that is not like that of the others.
type Deviation struct {
	Statistic Statistic
	Value     float64 // per second for an activity
	Median    float64 // of all bricks
	Spreads   float64 // by how many spreads the value lies from the median; negative is below it
}

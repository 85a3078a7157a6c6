package result

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Mixed is the protection of a level in which the setting changed.
const Mixed = "mixed"

// Row is one level: so many machines, one protection, one policy. Rates are per
// second of measured time, the warm-up excluded.
type Row struct {
	Run        string
	Mode       string // live or sim
	Profile    string
	Policy     string // as asked for, also with the window off
	Protection string // on, off, window, discard or mixed
	Machines   int
	Threads    int // users on each machine
	Users      int
	Duration   time.Duration // measured, which is less than planned if interrupted

	Offered     float64 // all attempts: the sum of Rates
	GoodputCI95 float64
	Rates       [session.NumOutcomes]float64 // by outcome; OK is the goodput
	Late        float64
	Wrong       uint64 // a total, that of the warm-up included
	Lost        uint64 // acknowledged, unexpired, and on none of the bricks that their cookie names

	Audit   Audit     // at the level's end; its Lost are among those above
	Latency Quantiles // of ok attempts

	CopiesPerWrite float64 // sent, for each write that went out; 0 if none did
	AckedPerWrite  float64 // acknowledged within the time-out, for each acknowledged write; 0 if there is none
	Fairness       float64 // Jain's index over the machines' goodputs; 1 is even, 0 if there was nothing to share

	Steady      Verdict
	GeneratorOK Verdict
	// LostHosts are the hosts of the load that were lost within the level, and their machines with them.
	LostHosts []string
	// Notes are what a reader must know to judge the row: a brick that died, an inbox that overflowed.
	Notes []string
}

// Goodput is the rate of correct answers in time.
func (r *Row) Goodput() float64 { return r.Rates[session.OK] }

// FairnessKnown reports whether there was goodput to share.
func (r *Row) FairnessKnown() bool { return r.Fairness > 0 && rounded(r.Goodput()) > 0 }

// Weak reports whether a verdict on the row failed: it is shown, and marked.
func (r *Row) Weak() bool { return !r.Steady.OK || !r.GeneratorOK.OK }

// Failed is the rate of all other outcomes.
func (r *Row) Failed() float64 { return r.Offered - r.Goodput() }

// Quantiles of a latency distribution; zero where nothing was recorded.
type Quantiles struct {
	P50  time.Duration
	P90  time.Duration
	P99  time.Duration
	P999 time.Duration
	Max  time.Duration
}

// Verdict is a judgement with its reason, so that a weak row can be shown and marked.
type Verdict struct {
	OK  bool   `json:"ok"`
	Why string `json:"why,omitempty"` // set when not OK: what failed, with its figure
}

// Second is one line of the series. Counts are of that second alone.
type Second struct {
	Level      int // index of the level in the plan, from 0
	Second     int // 0 is the first after the warm-up; warm-up seconds are negative
	Machines   int
	Policy     string
	Protection string // the setting in force in that second
	Count      [session.NumOutcomes]uint64
	Late       uint64
	P50, P99   time.Duration // of ok attempts; zero without any
}

// Event is one line of events.jsonl.
type Event struct {
	Time   time.Time `json:"time,omitzero"`  // none in a simulated run
	Level  int       `json:"level"`          // -1 outside of a level
	Second float64   `json:"second"`         // on the axis of the series
	Kind   string    `json:"kind"`           // fault, fault-over, toggle, brick-down, brick-up, agent-lost, interrupted, ...
	Who    string    `json:"who,omitempty"`  // brick-3, a host, ...
	What   string    `json:"what,omitempty"` // in words
}

// Plan is what a run was asked to measure. Together with the binary's hash it is
// what a resumed run must match.
type Plan struct {
	Machines   []int         `json:"machines"`   // the levels
	Protection []string      `json:"protection"` // empty: as found, and followed
	Policies   []string      `json:"policies"`
	Threads    int           `json:"threads"`
	Duration   time.Duration `json:"duration_ns"`
	Warmup     time.Duration `json:"warmup_ns"`
	Timeout    time.Duration `json:"timeout_ns"`
	W          int           `json:"w"`
	WQ         int           `json:"wq"`
	R          int           `json:"r"`
	Size       int           `json:"size_bytes"`
	Profile    string        `json:"profile"`
	Bricks     int           `json:"bricks"`
	Embedded   bool          `json:"embedded,omitempty"` // the bricks were the load's own
	Seed       uint64        `json:"seed"`
	Rate       float64       `json:"rate_rps,omitempty"`   // open loop; 0 is closed
	Scenario   string        `json:"scenario,omitempty"`   // under whose name it was asked for; Faults has its faults
	TimeScale  float64       `json:"time_scale,omitempty"` // of the scenario's times; 0 is 1
	Audit      time.Duration `json:"audit_ns,omitempty"`   // of each level at most; 0 is DefaultAudit
	Watch      bool          `json:"watch,omitempty"`      // the bricks are watched, and restarted when they are at fault
	Faults     []string      `json:"faults,omitempty"`     // of every level, as chaos.Parse reads them, in order of time
}

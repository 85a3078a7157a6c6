package result

import (
	"math"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Measured is everything that a level leaves for its row, whoever measured it.
// The zero value gives a row of zeros that is not steady.
type Measured struct {
	Run        string
	Mode       string // Live or Sim
	Profile    string
	Policy     string // as asked for
	Protection string // as asked for or found; the seconds overrule it
	Machines   int
	Threads    int // users on each machine

	// Seconds of all machines together, whole ones only. Those before second 0 are the
	// warm-up: they take no part, save that a wrong reply counts whenever it came.
	Seconds []Second
	// Latency of the ok attempts after the warm-up; see Histograms.OK.
	Latency Quantiles
	// MachineGoodput is per machine and in any one unit, for the fairness.
	MachineGoodput []float64
	Copies         Copies
	Lost           uint64
	Audit          Audit
	Faulty         bool // something was broken on purpose within the level

	Generator Verdict
	LostHosts []string
	Notes     []string
}

// Copies counts what the writes of a level cost.
type Copies struct {
	Begun  uint64 // writes sent out, however they ended
	Sent   uint64 // copies of those
	Writes uint64 // acknowledged writes
	Acked  uint64 // copies of those, acknowledged within the time-out
}

// NewRow computes a level's row. Rates are means over the measured seconds; the
// interval of the goodput is that of BatchMeans, the verdict on it that of Steady.
// A level whose seconds differ in their protection is Mixed and not steady.
func NewRow(m Measured) Row {
	r := Row{
		Run: m.Run, Mode: m.Mode, Profile: m.Profile, Policy: m.Policy, Protection: m.Protection,
		Machines: m.Machines, Threads: m.Threads, Users: m.Machines * m.Threads,
		Lost: m.Lost, Audit: m.Audit, Latency: m.Latency, Fairness: settled(Jain(m.MachineGoodput)),
		GeneratorOK: m.Generator, LostHosts: m.LostHosts, Notes: m.Notes,
	}
	if m.Copies.Begun > 0 {
		r.CopiesPerWrite = float64(m.Copies.Sent) / float64(m.Copies.Begun)
	}
	if m.Copies.Writes > 0 {
		r.AckedPerWrite = float64(m.Copies.Acked) / float64(m.Copies.Writes)
	}
	var counts [session.NumOutcomes]uint64
	var late uint64
	var goodput []float64
	for _, s := range m.Seconds {
		r.Wrong += s.Count[session.Wrong]
		if s.Second < 0 {
			continue
		}
		if len(goodput) == 0 {
			r.Protection = s.Protection
		} else if s.Protection != r.Protection {
			r.Protection = Mixed
		}
		for o, n := range s.Count {
			counts[o] += n
		}
		late += s.Late
		goodput = append(goodput, float64(s.Count[session.OK]))
	}
	r.Duration = time.Duration(len(goodput)) * time.Second
	if seconds := r.Duration.Seconds(); seconds > 0 {
		for o, n := range counts {
			r.Rates[o] = float64(n) / seconds
			r.Offered += r.Rates[o]
		}
		r.Late = float64(late) / seconds
	}
	_, ci := BatchMeans(goodput)
	r.GoodputCI95 = settled(ci)
	r.Steady = Steady(goodput)
	switch {
	case r.Protection == Mixed:
		r.Steady = Verdict{Why: "the protection changed within the level"}
	case m.Faulty && !r.Steady.OK:
		r.Steady.Why += " (a fault is within the level)"
	}
	return r
}

// settled rounds a figure to a millionth. Processors differ in the last digits of a sum of
// products, and the record of a simulated run must not.
func settled(x float64) float64 { return math.Round(x*1e6) / 1e6 }

package coordinator

import (
	"fmt"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// level turns what was gathered into what the run directory keeps.
func (g *gathering) level(began time.Time) (result.Level, error) {
	l := result.Level{Start: began, Histograms: g.tally.Histograms(), PerHost: make(map[string][]result.Second)}
	var err error
	if l.Seconds, err = g.tally.Seconds(); err != nil {
		return l, err
	}
	byHost := make(map[string][]int)
	for i, a := range g.c.agents {
		byHost[a.host] = append(byHost[a.host], i)
	}
	for host, agents := range byHost {
		if l.PerHost[host], err = g.tally.Seconds(agents...); err != nil {
			return l, err
		}
	}
	l.Row = g.row(l.Seconds)
	return l, nil
}

func (g *gathering) row(seconds []result.Second) result.Row {
	m := result.Measured{
		Run: g.c.cfg.Run, Mode: result.Live, Profile: g.c.cfg.Profile.Name, Policy: g.point.Policy,
		Protection: g.protection, Machines: g.point.Machines, Threads: g.c.cfg.Plan.Threads,
		Seconds: seconds, Latency: g.tally.Histograms().OK(), Lost: g.tally.Lost(), Notes: g.notes(),
		Faulty: len(g.c.cfg.Faults) > 0,
	}
	for _, d := range g.done {
		for _, n := range d.PerMachine {
			m.MachineGoodput = append(m.MachineGoodput, float64(n))
		}
		m.Copies.Writes += d.Writes
		m.Copies.Begun += d.Begun
		m.Copies.Sent += d.Sent
		m.Copies.Acked += d.Acked
		m.Lost += d.Audit.Lost
	}
	gen := g.generation()
	m.Generator = gen.Judge()
	return result.NewRow(m)
}

// generation sums up what the level says of the load side.
func (g *gathering) generation() loadgen.Generation {
	plan := &g.c.cfg.Plan
	gen := loadgen.Generation{Timeout: plan.Timeout}
	gen.Measured, gen.Busy, gen.Rest = g.tally.Presence()
	gen.Expect(plan, g.point.Machines, g.c.guests(g.point), joinWithin)
	perHost := make(map[string]float64)
	for _, d := range g.done {
		gen.LagP99 = max(gen.LagP99, d.LagP99)
		perHost[d.host] += d.CPU
		if share := perHost[d.host] / float64(d.Cores); share >= gen.CPU/float64(max(gen.Cores, 1)) {
			gen.CPU, gen.Cores = perHost[d.host], d.Cores
		}
		if d.HostIdle >= 0 {
			gen.HostBusy = max(gen.HostBusy, 1-d.HostIdle)
		}
	}
	if g.c.cfg.Profile.Processor.Emulated() {
		for _, h := range g.after.beats {
			gen.BrickLag = max(gen.BrickLag, h.Stats.LagP99)
		}
	}
	return gen
}

// notes says what a reader must know to judge the row.
func (g *gathering) notes() []string {
	var notes []string
	for _, m := range g.moves {
		notes = append(notes, fmt.Sprintf("%s at second %.1f", m.what, m.second))
	}
	for _, err := range g.before.absent {
		notes = append(notes, "absent from the start: "+err.Error())
	}
	for _, err := range g.after.absent {
		notes = append(notes, "no answer after the load: "+err.Error())
	}
	notes = append(notes, g.refusals()...)
	var unknown, wrong uint64
	for _, d := range g.done {
		unknown += d.Audit.Unknown
		wrong += d.Audit.Wrong
	}
	if unknown+wrong > 0 {
		notes = append(notes, fmt.Sprintf("the audit got no answer for %d states and a wrong one for %d", unknown, wrong))
	}
	return notes
}

// refusals says which bricks dropped or refused work for want of memory during the level.
func (g *gathering) refusals() []string {
	var notes []string
	for i, h := range g.after.beats {
		was := g.before.beats[i].Stats
		if h.Stats.Uptime < was.Uptime {
			was = session.BrickStats{} // it was started anew, and its counters with it
		}
		if n := h.Stats.Dropped - was.Dropped; n > 0 {
			notes = append(notes, fmt.Sprintf("%s dropped %d operations at arrival, its inbox full", h.Brick, n))
		}
		if n := h.Stats.Full - was.Full; n > 0 {
			notes = append(notes, fmt.Sprintf("%s refused %d writes, its memory full", h.Brick, n))
		}
	}
	return notes
}

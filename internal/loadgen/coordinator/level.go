package coordinator

import (
	"fmt"
	"slices"
	"strings"
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
	for _, agents := range byHost(g.c.agents) {
		parts := make([]int, len(agents))
		for i, a := range agents {
			parts[i] = a.index
		}
		seconds, err := g.tally.Seconds(parts...)
		if err != nil {
			return l, err
		}
		if len(seconds) > 0 {
			l.PerHost[agents[0].host] = seconds
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
		m.Audit.Add(&d.Audit.Audit)
		m.Lost += d.Audit.Lost - d.Audit.Told // what users found to be lost the tally has
	}
	gen := g.generation()
	m.Generator = gen.Judge()
	if len(g.lost) > 0 {
		hosts, notes := g.lostNotes()
		m.LostHosts = hosts
		if m.Generator.Why != "" {
			notes = append(notes, m.Generator.Why)
		}
		m.Generator = result.Verdict{Why: strings.Join(notes, "; ")}
	}
	return result.NewRow(m)
}

// generation sums up what the level says of the load side.
func (g *gathering) generation() loadgen.Generation {
	plan := &g.c.cfg.Plan
	gen := loadgen.Generation{Timeout: plan.Timeout}
	gen.Measured, gen.Busy, gen.Rest = g.tally.Presence()
	if len(g.lost) == 0 { // else nobody knows how many users there were
		gen.Expect(plan, g.point.Machines, g.c.guests(g.point), joinWithin)
	}
	perHost := make(map[string]float64)
	for _, d := range g.done {
		name := d.host
		if g.c.here() {
			name = ""
		}
		if d.LagP99 > gen.LagP99 {
			gen.LagP99, gen.LagHost = d.LagP99, name
		}
		perHost[d.host] += d.CPU
		if share := perHost[d.host] / float64(d.Cores); share >= gen.CPU/float64(max(gen.Cores, 1)) {
			gen.CPU, gen.Cores, gen.CPUHost = perHost[d.host], d.Cores, name
		}
		if busy := 1 - d.HostIdle; d.HostIdle >= 0 && busy > gen.HostBusy {
			gen.HostBusy, gen.BusyHost = busy, name
		}
	}
	if g.c.cfg.Profile.Processor.Emulated() {
		for _, h := range g.after.beats {
			gen.BrickLag = max(gen.BrickLag, h.Stats.LagP99)
		}
	}
	return gen
}

// here reports whether all agents are on this machine: nobody needs to be told its name.
func (c *Coordinator) here() bool {
	return len(byHost(c.agents)) == 1 && c.agents[0].host == "localhost"
}

// notes says what a reader must know to judge the row.
func (g *gathering) notes() []string {
	notes := g.sharing()
	for _, m := range g.moves {
		notes = append(notes, fmt.Sprintf("%s at second %.1f", m.what, m.second))
	}
	for _, err := range g.before.absent {
		notes = append(notes, "absent from the start: "+err.Error())
	}
	for _, err := range g.after.absent {
		notes = append(notes, "no answer after the load: "+err.Error())
	}
	return append(notes, g.refusals()...)
}

// sharing says how many machines share a host, where there is more than one of each.
func (g *gathering) sharing() []string {
	var shares []int
	for _, agents := range byHost(g.c.agents) {
		machines := 0
		for _, a := range agents {
			machines += g.shares[a]
		}
		if machines > 0 {
			shares = append(shares, machines)
		}
	}
	if len(shares) == 0 || g.point.Machines == len(shares) || g.c.here() {
		return nil
	}
	if len(shares) == 1 {
		return []string{fmt.Sprintf("%d machines on 1 host", g.point.Machines)}
	}
	least, most := slices.Min(shares), slices.Max(shares)
	each := fmt.Sprint(least)
	if least < most {
		each = fmt.Sprintf("%d or %d", least, most)
	}
	return []string{fmt.Sprintf("%d machines on %d hosts, %s on each", g.point.Machines, len(shares), each)}
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
		if n := h.Stats.Corrupt - was.Corrupt; n > 0 {
			notes = append(notes, fmt.Sprintf("%s found %d of its copies corrupt, and returned none of them", h.Brick, n))
		}
	}
	return notes
}

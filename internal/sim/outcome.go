package sim

import (
	"fmt"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// result turns what was recorded into what a run directory keeps. The level has no
// start: no clock was asked.
func (l *level) result() (result.Level, error) {
	measured := int(l.cfg.Plan.Duration / time.Second)
	tally := loadgen.NewTally(l.point, 1, measured)
	cut, err := l.rec.Cut(l.engine.now)
	if err != nil {
		return result.Level{}, err
	}
	for i := range cut {
		if cut[i].Second >= measured {
			break // the users had stopped
		}
		if _, err := tally.Add(0, &cut[i]); err != nil {
			return result.Level{}, fmt.Errorf("simulate %d machines: %w", l.point.Machines, err)
		}
	}
	tally.Totals(l.rec.Totals())
	seconds, err := tally.Seconds()
	if err != nil {
		return result.Level{}, err
	}
	return result.Level{
		Row: l.row(tally, seconds), Seconds: seconds, Histograms: tally.Histograms(),
		Events: l.happened(),
	}, nil
}

func (l *level) row(tally *loadgen.Tally, seconds []result.Second) result.Row {
	m := result.Measured{
		Run: l.cfg.Run, Mode: result.Sim, Profile: l.cfg.Profile.Name, Policy: l.point.Policy, Protection: l.protection,
		Machines: l.point.Machines, Threads: l.cfg.Plan.Threads, Seconds: seconds,
		Latency: tally.Histograms().OK(), Lost: tally.Lost() + l.audit.Lost - l.audit.Told, Audit: l.audit.Audit, Notes: l.notes(),
		Faulty: len(l.cfg.Faults) > 0 || l.engine.guard.repairs() > 0,
	}
	for _, n := range l.rec.PerMachine() {
		m.MachineGoodput = append(m.MachineGoodput, float64(n))
	}
	all := l.copies()
	m.Copies = result.Copies{
		Begun: all.Begun - l.warm.Begun, Sent: all.Sent - l.warm.Sent,
		Writes: all.Writes - l.warm.Writes, Acked: all.Acked - l.warm.Acked,
	}
	gen := loadgen.Generation{Timeout: l.cfg.Plan.Timeout}
	gen.Measured, gen.Busy, gen.Rest = tally.Presence()
	gen.Expect(&l.cfg.Plan, l.point.Machines, l.guests(), joinWithin)
	m.Generator = gen.Judge()
	return result.NewRow(m)
}

// notes says what a reader must know to judge the row.
func (l *level) notes() []string {
	var notes []string
	for i := range l.engine.bricks {
		n := &l.engine.bricks[i]
		s := n.stats()
		if s.Dropped > 0 {
			notes = append(notes, fmt.Sprintf("%s dropped %d operations at arrival, its inbox full", session.BrickID(i+1), s.Dropped))
		}
		if full := s.Full + n.full; full > 0 {
			notes = append(notes, fmt.Sprintf("%s refused %d writes, its memory full", session.BrickID(i+1), full))
		}
		if corrupt := s.Corrupt + n.corrupt; corrupt > 0 {
			notes = append(notes, fmt.Sprintf("%s found %d of its copies corrupt, and returned none of them", session.BrickID(i+1), corrupt))
		}
		if n.kills > 0 {
			notes = append(notes, fmt.Sprintf("%s died %s and came back empty", session.BrickID(i+1), often(n.kills)))
		}
	}
	return notes
}

func often(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

package watch

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Watcher watches the bricks of one cluster. It is not safe for concurrent use.
type Watcher struct {
	repairs bool
	bricks  []*patient // in the order of their ids
}

// New returns a watcher. Without repairs it raises alarms and asks for nothing.
func New(repairs bool) *Watcher { return &Watcher{repairs: repairs} }

// Look takes in one look at all bricks and says what follows. Looks are a second apart;
// longer, and everything takes longer. now must grow from look to look. A brick that is not
// among the samples is no longer watched. Who is asked for a repair carries it out
// before the next look, and whether it has worked shows in the looks that follow.
func (w *Watcher) Look(now time.Duration, samples []Sample) []Action {
	w.admit(samples)
	var fit []*patient
	for _, p := range w.bricks {
		i := slices.IndexFunc(samples, func(s Sample) bool { return s.Brick == p.id })
		p.take(now, &samples[i])
		if p.comparable() {
			fit = append(fit, p)
		}
	}
	compare(fit)
	for _, p := range fit {
		p.count()
	}
	var actions []Action
	for _, p := range w.bricks {
		actions = w.judge(now, p, actions)
	}
	return actions
}

// admit makes the bricks of the samples those that are watched.
func (w *Watcher) admit(samples []Sample) {
	w.bricks = slices.DeleteFunc(w.bricks, func(p *patient) bool {
		return !slices.ContainsFunc(samples, func(s Sample) bool { return s.Brick == p.id })
	})
	for i := range samples {
		at, known := slices.BinarySearchFunc(w.bricks, samples[i].Brick, byID)
		if !known {
			w.bricks = slices.Insert(w.bricks, at, &patient{id: samples[i].Brick})
		}
	}
}

func byID(p *patient, id session.BrickID) int { return cmp.Compare(p.id, id) }

// fault returns what the brick is at fault of by now; "" is nothing.
func (p *patient) fault() Cause {
	switch {
	case p.gone >= goneFor:
		return Gone
	case p.missed >= silentFor:
		return Silent
	case p.missed == 0 && (p.several >= severalFor || p.alone >= aloneFor):
		return Deviates
	}
	return ""
}

// judge turns what is known of a brick into actions.
func (w *Watcher) judge(now time.Duration, p *patient, actions []Action) []Action {
	c := &p.chart
	cause := p.fault()
	if cause != "" {
		c.ill = now
		if c.cause != cause {
			c.cause = cause
			actions = append(actions, p.action(Alarm))
		}
		switch {
		case !w.repairs || c.gaveUp || !w.safe(now, p):
		case c.hopeless(now):
			c.gaveUp = true
			actions = append(actions, p.action(GaveUp))
		default:
			actions = append(actions, p.action(Repair))
			c.repaired(now)
			p.forget()
		}
		return actions
	}
	if c.cause != "" && p.recovered() {
		actions = append(actions, Action{Kind: Over, Brick: p.id, Cause: c.cause})
		c.cause = ""
	}
	if c.gaveUp && now-c.ill >= rest {
		c.gaveUp, c.row = false, 0
	}
	return actions
}

func (p *patient) action(k Kind) Action {
	a := Action{Kind: k, Brick: p.id, Cause: p.chart.cause}
	if a.Cause == Deviates {
		a.Deviations = p.evidence
	}
	return a
}

// recovered reports whether nothing is left of an alarm: a brick that was away answers, one that
// deviated has been like the others for a whole window.
func (p *patient) recovered() bool {
	if p.chart.cause == Deviates {
		return p.well >= window
	}
	return p.missed == 0 && len(p.readings) > 0
}

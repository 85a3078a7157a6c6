package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/watch"
)

// lookEvery is how often the guard looks at the bricks (SSM, NSDI 2004: every second).
const lookEvery = time.Second

// restartTakes is the time from the end of a brick's process to the start of the next. Chosen: a live one
// takes less on an idle machine.
const restartTakes = 500 * time.Millisecond

// guard is what ssmctl watch --repair is live: it looks at all bricks and restarts those
// that the core of detection says are at fault.
type guard struct {
	core *watch.Watcher
	till time.Duration // the end of the level: there is no more load to judge by
	seen []done
}

// done is an action of the guard's, and when.
type done struct {
	at time.Duration
	watch.Action
}

// planGuard plans the guard's first look, unless there is none.
func (e *engine) planGuard(wanted bool, end time.Duration) {
	if !wanted {
		return
	}
	e.guard = &guard{core: watch.New(true), till: end}
	e.events.push(event{at: e.now + lookEvery, kind: guardLooks})
}

// look takes the guard's look and does what follows from it.
func (e *engine) look() {
	g := e.guard
	if e.now > g.till {
		return
	}
	samples := make([]watch.Sample, len(e.bricks))
	for i := range e.bricks {
		samples[i] = e.sample(uint32(i))
	}
	for _, a := range g.core.Look(e.now, samples) {
		g.seen = append(g.seen, done{e.now, a})
		if a.Kind == watch.Repair {
			e.repair(a.Brick)
		}
	}
	e.events.push(event{at: e.now + lookEvery, kind: guardLooks})
}

// sample asks a brick how it is. The answer comes over a connection, which repeats what is
// lost on the way.
func (e *engine) sample(i uint32) watch.Sample {
	n := &e.bricks[i]
	s := watch.Sample{Brick: session.BrickID(i + 1)}
	switch {
	case n.way.cut:
	case n.dead():
		s.Gone = true
	case e.now >= n.queue.Defect().StallUntil:
		s.Heard = true
		n.store.Elapse(e.now)
		s.Stats = n.stats()
		s.Stats.Uptime = e.now - max(n.born, epoch)
	}
	return s
}

// repair restarts a brick. What was wrong with its process is over with the process; what is
// wrong with its network is not.
func (e *engine) repair(id session.BrickID) {
	for k := range e.faults.all {
		f := &e.faults.all[k]
		if !f.active || f.Brick != id || f.Kind.OfNetwork() {
			continue
		}
		f.active, f.cured = false, e.now
		e.sawFault(FaultEnds, &f.Fault)
	}
	restart := fault{
		Fault: chaos.Fault{Kind: chaos.Kill, Brick: id, For: restartTakes},
		begin: e.now, end: e.now + restartTakes,
	}
	e.faults.all = append(e.faults.all, restart)
	i := uint32(len(e.faults.all) - 1)
	e.events.push(event{at: restart.end, kind: faultEnds, who: i})
	e.turn(i, true)
}

// happened lists the faults of the level and what the guard has done, in order of time.
func (l *level) happened() []result.Event {
	zero := epoch + l.cfg.Plan.Warmup
	events := loadgen.FaultEvents(l.point.Index, l.cfg.Faults, l.cfg.Plan.Duration)
	if l.engine.guard == nil {
		return events
	}
	for _, f := range l.engine.faults.all[:len(l.cfg.Faults)] {
		over := slices.IndexFunc(events, func(e result.Event) bool { return e.Kind == "fault-over" && e.What == f.String() })
		if f.cured != 0 {
			events[over].Second = (f.cured - zero).Seconds()
		}
	}
	for _, d := range l.engine.guard.seen {
		events = append(events, result.Event{
			Level: l.point.Index, Second: (d.at - zero).Seconds(), Kind: string(d.Kind), Who: d.Brick.String(), What: d.What(),
		})
	}
	slices.SortStableFunc(events, func(a, b result.Event) int { return cmp.Compare(a.Second, b.Second) })
	return events
}

// repairs counts the guard's.
func (g *guard) repairs() (n int) {
	if g == nil {
		return 0
	}
	for _, d := range g.seen {
		if d.Kind == watch.Repair {
			n++
		}
	}
	return n
}

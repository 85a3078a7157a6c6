package watch

import "time"

// chart is a brick's record of illness and repair, across its lives.
type chart struct {
	cause  Cause         // of the alarm that is not over; "" is none
	ill    time.Duration // the last look that found it at fault
	at     time.Duration // of the last repair; 0 is never
	row    int           // repairs, each within relapse of the one before
	gaveUp bool
}

// repaired takes down a repair.
func (c *chart) repaired(now time.Duration) {
	if c.at == 0 || now-c.at >= relapse {
		c.row = 0
	}
	c.row++
	c.at = now
}

// hopeless reports whether another repair would be one too many.
func (c *chart) hopeless(now time.Duration) bool { return c.row >= mostRepairs && now-c.at < relapse }

// reborn takes down a new life that nobody here asked for: somebody else has done something,
// which is a reason to try again.
func (c *chart) reborn() { c.row, c.gaveUp = 0, false }

// safe reports whether a brick can be restarted now. One whose process is gone has nothing
// to lose. One that is silent may be so to us alone; if most are, that is likely. One that
// answers holds states, and the others must hold their copies.
func (w *Watcher) safe(now time.Duration, p *patient) bool {
	heard := 0
	for _, q := range w.bricks {
		if q.missed == 0 && len(q.readings) > 0 {
			heard++
		}
		if p.chart.cause == Deviates && q != p && q.shaken(now) {
			return false
		}
	}
	return p.chart.cause == Gone || 2*heard > len(w.bricks)
}

// shaken reports whether a brick has lately lost what it held, or may have.
func (p *patient) shaken(now time.Duration) bool {
	if p.chart.at != 0 && now-p.chart.at < apart {
		return true
	}
	if p.missed > 0 {
		return now-p.heard < apart
	}
	n := len(p.readings)
	return n > 0 && p.readings[n-1].stats.Uptime < apart
}

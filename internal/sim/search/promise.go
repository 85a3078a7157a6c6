package search

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/protect"
)

// The promise of progress: within these times every user has an answer, once the quiet has
// begun and what waited in it is worked off.
const (
	answersWithin = 2 * time.Second // windows that never close
	turnsWithin   = 100             // time-outs more, of paced: two of its rounds, in each of which a stub has one turn
	rejoinsWithin = time.Second     // a brick that is back announces itself
	usersJoin     = time.Second     // as in sim
)

// promise says whether the case is light enough for the promise of progress, and how long
// it must be quiet for it.
//
// It is light if even the worst luck does not make an answer late: when all users wait for
// the same brick, the last of them has its answer in half a time-out. Then a brick is never more than half
// busy with requests that time out either, so that what a fault has piled up is worked off in
// as long again. Nothing is promised where the network loses messages or a bound refuses them.
func (c *Case) promise() (light bool, quiet time.Duration) {
	users := c.Machines * c.Threads
	for _, f := range c.faults() {
		users += f.Machines * c.Threads
	}
	dearest := float64(max(c.Put, c.Get)) * (1 + c.CostJitter)
	round := 2 * float64(c.OneWay) * (1 + c.NetworkJitter)
	light = float64(users)*dearest+round <= float64(c.Timeout)/2 &&
		c.Loss == 0 && c.LinkRate == 0 && c.Rate == 0 && c.Memory == 0 && c.Inbox == 0
	return light, c.troubled() + rejoinsWithin + c.answersWithin()
}

// answersWithin is how long a user may go without an answer.
func (c *Case) answersWithin() time.Duration {
	within := answersWithin + 3*time.Duration(c.Own) // two thoughts, at their longest
	if c.Policy == "paced" && c.windowed() {
		within += turnsWithin * time.Duration(c.Timeout)
	}
	return within
}

// windowed reports whether windows are in force at any time.
func (c *Case) windowed() bool {
	windowed := protect.Windowed(c.Protection)
	for _, change := range c.Changes {
		windowed = windowed || protect.Windowed(change.Protection)
	}
	return windowed
}

// troubled returns when all is over that disturbs the case, since the end of the warm-up.
func (c *Case) troubled() time.Duration {
	last := usersJoin
	for _, f := range c.faults() {
		last = max(last, f.Ends(time.Duration(c.Duration)))
	}
	for _, change := range c.Changes {
		last = max(last, time.Duration(change.At))
	}
	return last
}

// promised reports whether every user of the case must have an answer in the end.
func (c *Case) promised() bool {
	light, quiet := c.promise()
	return light && c.troubled()+quiet <= time.Duration(c.Duration)
}

// faults are the case's, as far as they can be read.
func (c *Case) faults() []chaos.Fault {
	all, _ := chaos.ParseAll(c.Faults) // what cannot be read is told by config
	return all
}

package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/result"
)

// silentWithin is how long an agent that is far may say nothing within a level before it is given
// up, and the coordinator before the agent gives up. Both speak every second; a link that is cut
// for less is bridged by its connection.
const silentWithin = 15 * time.Second

// LostError says which agents a run has lost. The levels that were measured have gone to the
// sink, the one in which an agent was lost marked with it.
type LostError struct {
	Lost []*AgentError
}

func (e *LostError) Error() string {
	var texts []string
	for _, l := range e.Lost {
		if text := l.Error(); !slices.Contains(texts, text) { // several of one host say the same
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the single losses.
func (e *LostError) Unwrap() []error {
	errs := make([]error, len(e.Lost))
	for i, l := range e.Lost {
		errs[i] = l
	}
	return errs
}

// lost returns what was lost so far; nil if nothing was.
func (c *Coordinator) lost() error {
	e := &LostError{}
	for _, a := range c.agents {
		if a.lost != nil {
			e.Lost = append(e.Lost, &AgentError{Host: a.host, Err: a.lost})
		}
	}
	if len(e.Lost) == 0 {
		return nil
	}
	return e
}

// loss is an agent that was lost within a level.
type loss struct {
	host     string
	machines int
	second   float64 // in which it was heard last
	why      error
}

// lose gives an agent up and notes it. The level goes on with the others; the error is
// that of a run that has no agent left, or cannot keep the event.
func (g *gathering) lose(a *agent, why error) error {
	if a.lost != nil {
		return nil
	}
	if errors.Is(why, io.EOF) {
		why = errors.New("it ended")
	}
	a.lost = why
	g.c.warn(fmt.Sprintf("the load agent on %s is lost: %v", a.host, why))
	delete(g.waiting, a)
	l := loss{host: a.host, machines: g.shares[a], second: g.second(a.heard), why: why}
	g.lost = append(g.lost, l)
	err := g.c.cfg.Event(result.Event{
		Time: time.Now().UTC(), Level: g.point.Index, Second: l.second, Kind: "agent-lost",
		Who: a.host, What: fmt.Sprintf("%v; its machines: %d", why, l.machines),
	})
	if err != nil {
		return err
	}
	if len(g.c.live()) == 0 {
		return g.c.lost()
	}
	whole, err := g.tally.Drop(a.index)
	if err != nil {
		return err
	}
	for _, second := range whole {
		if err := g.whole(second); err != nil {
			return err
		}
	}
	return nil
}

// loseWaiting gives up all agents that have not done what they were waited for.
func (g *gathering) loseWaiting(why error) error {
	for _, a := range g.c.live() {
		if g.waiting[a] {
			if err := g.lose(a, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// loseSilent gives up the agents that are waited for and have said nothing for long.
func (g *gathering) loseSilent(now time.Time) error {
	if g.silence == 0 {
		return nil
	}
	for _, a := range g.c.live() {
		if g.waiting[a] && now.Sub(a.heard) > g.silence {
			if err := g.lose(a, fmt.Errorf("it has said nothing for %v", g.silence)); err != nil {
				return err
			}
		}
	}
	return nil
}

// second is where on the axis of the series an instant is, 0 before the level has begun.
func (g *gathering) second(at time.Time) float64 {
	if g.began.IsZero() {
		return 0
	}
	return (at.Sub(g.began) - g.c.cfg.Plan.Warmup).Seconds()
}

// giveUp ends a level that has not begun, on all agents that are left.
func (g *gathering) giveUp() error {
	g.expect()
	if err := g.broadcast(message.Order{Stop: true}); err != nil {
		return err
	}
	if err := g.until(context.Background(), g.c.cfg.Plan.Timeout+endWithin, "stop"); err != nil {
		return err
	}
	return g.audit()
}

// lostNotes says what was lost, once for each host.
func (g *gathering) lostNotes() (hosts, notes []string) {
	for _, l := range g.lost {
		if slices.Contains(hosts, l.host) {
			continue
		}
		hosts = append(hosts, l.host)
		machines := 0
		for _, o := range g.lost {
			if o.host == l.host {
				machines += o.machines
			}
		}
		notes = append(notes, fmt.Sprintf("%s was lost at second %.1f, and %d of %d machines with it: %v",
			l.host, l.second, machines, g.point.Machines, l.why))
	}
	return hosts, notes
}

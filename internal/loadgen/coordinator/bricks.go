package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

const (
	restoreWithin = 5 * time.Second
	afterWithin   = 15 * time.Second
)

// survey is what bricks answered, by their index; absent ones gave no answer.
type survey struct {
	beats  []wire.Heartbeat
	absent []error
}

// answered returns the answers there are.
func (s *survey) answered() []wire.Heartbeat {
	return slices.DeleteFunc(slices.Clone(s.beats), func(h wire.Heartbeat) bool { return h.Brick == 0 })
}

// all gives an order to every brick. Bricks may be absent, as long as enough for a
// write are there.
func (c *Coordinator) all(ctx context.Context, give func(context.Context, remote.Brick) (wire.Heartbeat, error)) (*survey, error) {
	s := &survey{}
	s.beats, s.absent = remote.All(ctx, c.cfg.Bricks, give)
	if errors.Is(ctx.Err(), context.Canceled) {
		return s, ErrInterrupted // who is absent is not known then
	}
	if there := len(c.cfg.Bricks) - len(s.absent); there < c.cfg.Plan.W {
		few := fmt.Errorf("%d of %d bricks answer, a write needs %d", there, len(c.cfg.Bricks), c.cfg.Plan.W)
		if tried := errors.Join(s.absent...); tried != nil { // there may have been none to try
			few = fmt.Errorf("%w: %w", few, tried)
		}
		return s, fmt.Errorf("%w\nlook at ssmctl brick list (with --hosts, if they are on other machines), then start or restart some", few)
	}
	return s, nil
}

// rememberProtection notes the bricks' protection and returns what puts it back; that does
// nothing unless the plan changes it.
func (c *Coordinator) rememberProtection(ctx context.Context) (restore func(), err error) {
	before, err := c.all(ctx, c.bricks.Status)
	if err != nil {
		return nil, err
	}
	if len(c.cfg.Plan.Protection) == 0 {
		return func() {}, nil
	}
	return func() {
		// The run's own context may be over, and the bricks are to be put right all the same.
		ctx, cancel := context.WithTimeout(context.Background(), restoreWithin)
		defer cancel()
		for i, b := range c.cfg.Bricks {
			if before.beats[i].Brick == 0 {
				continue
			}
			if _, err := c.bricks.Protect(ctx, b, before.beats[i].Setting); err != nil {
				c.warn(fmt.Sprintf("protection not put back to %s: %v", before.beats[i].Setting, err))
			}
		}
	}, nil
}

// prepare empties the bricks' inboxes and sets the protection of a point, or finds
// it. The survey shows them as they are then.
func (c *Coordinator) prepare(ctx context.Context, p loadgen.Point) (*survey, string, error) {
	if err := c.empty(ctx); err != nil {
		return nil, "", err
	}
	order := c.bricks.Status
	if p.Protection != "" {
		s, err := protect.ParseSetting(p.Protection)
		if err != nil {
			return nil, "", err
		}
		order = func(ctx context.Context, b remote.Brick) (wire.Heartbeat, error) { return c.bricks.Protect(ctx, b, s) }
	}
	found, err := c.all(ctx, order)
	if err != nil {
		return nil, "", err
	}
	protection, err := Agreed(found.answered())
	return found, protection, err
}

// empty resets every brick and reads back that its inbox is empty.
func (c *Coordinator) empty(ctx context.Context) error {
	if _, err := c.all(ctx, c.bricks.Reset); err != nil {
		return err
	}
	s, err := c.all(ctx, c.bricks.Status)
	if err != nil {
		return err
	}
	for _, h := range s.beats {
		if h.Stats.InboxLen > 0 {
			return fmt.Errorf("%s still holds %d operations after a reset: another load is running against it: stop that one first",
				h.Brick, h.Stats.InboxLen)
		}
	}
	return nil
}

// DisagreementError names the bricks of each protection when they are not one.
type DisagreementError struct {
	Settings map[string][]session.BrickID
}

func (e *DisagreementError) Error() string {
	var groups []string
	for _, s := range protect.Settings() {
		if ids := e.Settings[s.String()]; len(ids) > 0 {
			names := make([]string, len(ids))
			for i, id := range ids {
				names[i] = id.String()
			}
			groups = append(groups, fmt.Sprintf("%s on %s", s, strings.Join(names, ", ")))
		}
	}
	return "the bricks disagree on protection: " + strings.Join(groups, "; ") + ": run ssmctl protect on (or off) first"
}

// Agreed returns the protection that all bricks have; a *DisagreementError if there is none.
func Agreed(beats []wire.Heartbeat) (string, error) {
	settings := make(map[string][]session.BrickID)
	for _, h := range beats {
		settings[h.Setting.String()] = append(settings[h.Setting.String()], h.Brick)
	}
	if len(settings) > 1 {
		return "", &DisagreementError{Settings: settings}
	}
	for s := range settings {
		return s, nil
	}
	return protect.Off.String(), nil
}

// afterLoad looks at the bricks when the users have stopped, empties them, and lets
// the agents read back what the users hold.
func (c *Coordinator) afterLoad(g *gathering) error {
	// The level is over even when the run is being interrupted: finish it properly.
	ctx, cancel := context.WithTimeout(context.Background(), afterWithin)
	defer cancel()
	after, err := c.all(ctx, c.bricks.Status)
	if err != nil {
		c.warn(err.Error()) // the level was measured all the same
		return g.audit()
	}
	g.after = after
	if err := c.empty(ctx); err != nil {
		return err
	}
	return g.audit()
}

package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// Swept is what a sweep has found and removed on a host.
type Swept struct {
	Host string
	fleet.Swept
	Err error // of a host that could not be swept
}

// SweepOptions say how far a sweep goes.
type SweepOptions struct {
	Dry bool // only look
}

// cleanLine is the command that removes what a record names.
func cleanLine(r *Record) string {
	if r.Run != "" {
		return "ssmctl clean --run " + r.Run
	}
	return "ssmctl clean --hosts " + r.Source
}

// Sweep ends and removes all that is the cluster's on every host, and looks again. When all
// hosts have been swept and nothing is left, and those that were never reached do not count, the record and its keys are removed too, unless it
// was a dry one. It may be repeated, and works from the record alone.
func (c *Cluster) Sweep(ctx context.Context, o SweepOptions) ([]Swept, error) {
	args := []string{"sweep"}
	if o.Dry {
		args = append(args, "--dry-run")
	}
	swept := make([]Swept, len(c.Hosts))
	for i := range swept {
		swept[i].Host = c.Hosts[i].Name
	}
	err := c.each(ctx, c.where(func(h *Host) bool { return !h.Untouched }), func(i int, h *reach.Host) error {
		swept[i].Err = c.ask(ctx, h, &swept[i].Swept, args...)
		if swept[i].Err == nil && len(swept[i].Left) > 0 {
			swept[i].Err = fmt.Errorf("still there: %v", swept[i].Left)
		}
		return swept[i].Err
	})
	if err != nil || o.Dry {
		return swept, err
	}
	return swept, c.store.forget(c.ID)
}

// End is Sweep for a cluster that is not wanted any more; it says what could not be ended
// and how to try again.
func (c *Cluster) End(ctx context.Context) error {
	_, err := c.Sweep(ctx, SweepOptions{})
	if err == nil {
		return nil
	}
	again := cleanLine(&c.Record)
	return errors.Join(err, fmt.Errorf("something may be left on these hosts, and the record of it is kept: try again with %s; --forget HOST with it drops a host that is gone for good", again))
}

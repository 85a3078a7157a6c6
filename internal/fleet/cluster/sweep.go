package cluster

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"

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
	Dry   bool // only look
	Cache bool // remove the copy of ssmctl too by which the hosts are worked on
}

// Sweep ends and removes all that is the cluster's on every host, and looks again. When all
// hosts have been swept and nothing is left, the record and its keys are removed too, unless it
// was a dry one. It may be repeated, and works from the record alone.
func (c *Cluster) Sweep(ctx context.Context, o SweepOptions) ([]Swept, error) {
	args := []string{"sweep"}
	if o.Dry {
		args = append(args, "--dry-run")
	}
	swept := make([]Swept, len(c.Hosts))
	err := c.each(c.all(), func(i int, h *reach.Host) error {
		swept[i].Host = h.Name
		swept[i].Err = c.ask(ctx, h, &swept[i].Swept, args...)
		if swept[i].Err == nil && len(swept[i].Left) > 0 {
			swept[i].Err = fmt.Errorf("still there: %v", swept[i].Left)
		}
		return swept[i].Err
	})
	if err != nil || o.Dry {
		return swept, err
	}
	if o.Cache { // only now: hosts may share a home, and with it the program that sweeps
		if err := c.each(c.all(), func(_ int, h *reach.Host) error { return uncache(ctx, h) }); err != nil {
			return swept, err
		}
	}
	return swept, c.store.forget(c.ID)
}

// cachedProgram is where reach puts ssmctl on a host; nothing else is removed.
var cachedProgram = regexp.MustCompile(`^/.*/ssmctl(-[0-9]+)?/[0-9a-f]{64}/ssmctl$`)

// uncache removes the copy of ssmctl from a host, and the directory above if it is the last.
func uncache(ctx context.Context, h *reach.Host) error {
	program, err := h.Ship(ctx)
	if err != nil {
		return err
	}
	if !cachedProgram.MatchString(program) {
		return fmt.Errorf("%s is no place for a cache: remove it by hand", program)
	}
	dir := path.Dir(program)
	_, err = h.Run(ctx, nil, "sh", "-c", `rm -rf "$1" && { rmdir "$2" 2>/dev/null || true; }`, "sh", dir, path.Dir(dir))
	return err
}

// End is Sweep for a cluster that is not wanted any more; it says what could not be ended
// and how to try again.
func (c *Cluster) End(ctx context.Context) error {
	_, err := c.Sweep(ctx, SweepOptions{})
	if err == nil {
		return nil
	}
	again := "ssmctl clean --hosts " + c.Source
	if c.Run != "" {
		again = "ssmctl clean --run " + c.Run
	}
	return errors.Join(err, fmt.Errorf("something may be left on these hosts, and the record of it is kept: try again with %s", again))
}

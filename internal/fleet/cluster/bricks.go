package cluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Answer is what ssmctl on a host has printed, or why there is nothing.
type Answer[T any] struct {
	Host   string
	Bricks []remote.Brick // of the host, by the record
	Value  T
	Err    error
}

// Ask runs a command of ssmctl that prints JSON on all hosts that have bricks. The error is
// of the hosts that gave no answer; those of the others are there all the same.
func Ask[T any](ctx context.Context, c *Cluster, args ...string) ([]Answer[T], error) {
	hosts := c.withBricks()
	answers := make([]Answer[T], len(hosts))
	err := c.each(ctx, hosts, func(i int, h *reach.Host) error {
		a := &answers[slices.Index(hosts, i)]
		a.Host, a.Bricks = h.Name, c.Hosts[i].Started
		a.Err = c.ask(ctx, h, &a.Value, args...)
		return a.Err
	})
	return answers, err
}

// hostOf returns the host of a brick. If there is none the error is a *fleet.UnknownError.
func (c *Cluster) hostOf(id session.BrickID) (int, error) {
	unknown := &fleet.UnknownError{ID: id}
	for i := range c.Hosts {
		for _, b := range c.Hosts[i].Started {
			if b.ID == id {
				return i, nil
			}
			unknown.Known = append(unknown.Known, b.ID)
		}
	}
	return 0, unknown
}

// Ended is a brick that was stopped.
type Ended struct {
	Host string `json:"host,omitempty"`
	ID   string `json:"id"`
	How  string `json:"how"`
}

// Stop stops these bricks and takes them out of the record. It returns those that ended
// even when there is an error about others.
func (c *Cluster) Stop(ctx context.Context, ids []session.BrickID) ([]Ended, error) {
	byHost := make(map[int][]string)
	var hosts []int
	for _, id := range ids {
		i, err := c.hostOf(id)
		if err != nil {
			return nil, err
		}
		if byHost[i] == nil {
			hosts = append(hosts, i)
		}
		byHost[i] = append(byHost[i], id.String())
	}
	ended := make([][]Ended, len(c.Hosts))
	err := c.each(ctx, hosts, func(i int, h *reach.Host) error {
		args := append([]string{"brick", "stop", "--json"}, byHost[i]...)
		if err := c.ask(ctx, h, &ended[i], args...); err != nil {
			return err
		}
		c.Hosts[i].Started = slices.DeleteFunc(c.Hosts[i].Started, func(b remote.Brick) bool {
			return slices.Contains(byHost[i], b.ID.String())
		})
		for n := range ended[i] {
			ended[i][n].Host = h.Name
		}
		return nil
	})
	if saveErr := c.store.save(&c.Record); err == nil {
		err = saveErr
	}
	return slices.Concat(ended...), err
}

// Restart starts a brick again where it was, under this protection; "" is the one that it
// was started with.
func (c *Cluster) Restart(ctx context.Context, id session.BrickID, protection string) (host string, started fleet.Started, err error) {
	i, err := c.hostOf(id)
	if err != nil {
		return "", started, err
	}
	args := []string{"brick", "restart", "--json", id.String()}
	if protection != "" {
		args = append(args, "--protection", protection)
	}
	var all []fleet.Started
	err = c.each(ctx, []int{i}, func(_ int, h *reach.Host) error {
		if err := c.ask(ctx, h, &all, args...); err != nil {
			return err
		}
		if len(all) != 1 {
			return fmt.Errorf("%d bricks have started again, 1 was to", len(all))
		}
		return nil
	})
	if err != nil {
		return c.Hosts[i].Name, started, err
	}
	return c.Hosts[i].Name, all[0], nil
}

// Log returns the last lines of a brick's log as they are.
func (c *Cluster) Log(ctx context.Context, id session.BrickID, lines int) (text []byte, err error) {
	i, err := c.hostOf(id)
	if err != nil {
		return nil, err
	}
	err = c.each(ctx, []int{i}, func(_ int, h *reach.Host) (err error) {
		text, err = h.Ssmctl(ctx, nil, c.at(h.Name, "brick", "logs", "--lines", strconv.Itoa(lines), id.String())...)
		return err
	})
	return text, err
}

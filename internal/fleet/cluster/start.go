package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
	"github.com/ssmctl/ssmctl/internal/session"
)

// start is a host on which bricks have started and may still be taken back.
type start struct {
	process *reach.Process
	bricks  []remote.Brick
	started []fleet.Started
}

// Start starts the cluster's bricks: all of them, or none. The task says what they have in
// common. When they run the record says where; each host is told to keep its own only then.
// The answer is in the order of the hosts, its addresses those by which others reach the bricks.
func (c *Cluster) Start(ctx context.Context, task fleet.Task) (started [][]fleet.Started, err error) {
	hosts := c.withBricks()
	starts := make([]*start, len(c.Hosts))
	if err := c.arrive(ctx, hosts); err != nil {
		return nil, err
	}
	err = c.each(ctx, hosts, func(i int, h *reach.Host) (err error) {
		starts[i], err = c.startOn(ctx, i, h, task)
		return err
	})
	if err == nil {
		err = ctx.Err() // an input may have been closed just after its bricks had started
	}
	if err == nil {
		err = c.keep(ctx, hosts, starts)
	}
	// Those who have not heard the word take their bricks back when they lose their input.
	closeErr := c.each(context.WithoutCancel(ctx), hosts, func(i int, _ *reach.Host) error {
		if starts[i] == nil {
			return nil
		}
		return starts[i].process.Close()
	})
	if err != nil {
		return nil, err // what the others say on being closed only follows from it
	}
	started = make([][]fleet.Started, len(c.Hosts))
	for _, i := range hosts {
		started[i] = starts[i].started
	}
	return started, closeErr
}

// arrive puts ssmctl on hosts and records that something may be there from now on: where
// it did not arrive nothing is.
func (c *Cluster) arrive(ctx context.Context, hosts []int) error {
	err := c.each(ctx, hosts, func(_ int, h *reach.Host) error {
		_, err := h.Ship(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, i := range hosts {
		c.Hosts[i].Untouched = false
	}
	return c.store.save(&c.Record)
}

// keep records where the bricks are and lets go of them.
func (c *Cluster) keep(ctx context.Context, hosts []int, starts []*start) error {
	for _, i := range hosts {
		c.Hosts[i].Started = starts[i].bricks
	}
	if err := c.store.save(&c.Record); err != nil {
		return err
	}
	return c.each(ctx, hosts, func(i int, _ *reach.Host) error {
		_, err := io.WriteString(starts[i].process.In, fleet.KeepWord)
		return err
	})
}

func (c *Cluster) startOn(ctx context.Context, i int, h *reach.Host, task fleet.Task) (*start, error) {
	entry := &c.Hosts[i]
	task.Count, task.First = len(entry.Started), entry.Started[0].ID
	task.Listen, task.Plaintext = net.JoinHostPort(entry.Listen, "0"), c.Plaintext
	if err := c.equip(&task); err != nil {
		return nil, err
	}
	argv, err := h.Program(ctx, c.at(h.Name, "brick", "start")...)
	if err != nil {
		return nil, err
	}
	p, err := h.Start(ctx, nil, argv...)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.In.Close() }) // the host ends it then
	defer stop()
	started, err := converse(p, &task)
	if err == nil {
		s := &start{process: p, started: started}
		if s.bricks, err = placed(entry, started); err == nil {
			return s, nil
		}
	}
	if closeErr := p.Close(); closeErr != nil {
		err = closeErr // the reason is in what it has said
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return nil, err
}

// equip gives keys to the bricks of a task.
func (c *Cluster) equip(task *fleet.Task) error {
	task.Keys = nil
	if c.Plaintext {
		return nil
	}
	authority, err := c.store.authority(&c.Record)
	if err != nil {
		return err
	}
	for n := range task.Count {
		keys, err := authority.Issue((task.First + session.BrickID(n)).String())
		if err != nil {
			return err
		}
		task.Keys = append(task.Keys, keys)
	}
	return nil
}

// converse gives the task and hears what has started.
func converse(p *reach.Process, task *fleet.Task) (started []fleet.Started, err error) {
	if err := json.NewEncoder(p.In).Encode(task); err != nil {
		return nil, fmt.Errorf("send the task: %w", err)
	}
	line, err := bufio.NewReader(p.Out).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it ended without starting bricks")
	}
	if err != nil {
		return nil, fmt.Errorf("hear of the bricks: %w", err)
	}
	if err := json.Unmarshal(line, &started); err != nil {
		return nil, fmt.Errorf("hear of the bricks: %w", err)
	}
	return started, nil
}

// placed is the bricks of a host at the address by which others reach it.
func placed(h *Host, started []fleet.Started) ([]remote.Brick, error) {
	if len(started) != len(h.Started) {
		return nil, fmt.Errorf("%d bricks have started, %d were to", len(started), len(h.Started))
	}
	bricks := make([]remote.Brick, len(started))
	for i, s := range started {
		_, port, err := net.SplitHostPort(s.Addr)
		if err != nil {
			return nil, fmt.Errorf("address of %s: %w", s.ID, err)
		}
		started[i].Addr = net.JoinHostPort(h.Address, port)
		bricks[i] = remote.Brick{ID: h.Started[i].ID, Addr: started[i].Addr}
	}
	return bricks, nil
}

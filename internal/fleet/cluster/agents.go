package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// Agent is a load agent on a host.
type Agent struct {
	Host string
	*reach.Process
}

// StartAgents starts so many agents on each host, by its name, those of a host one after
// the other in the result: all of them or none. The first of each reserves its host: where another
// load has done so it fails, and says that to whoever leads it. What agents say on
// their standard error goes to errOut, with their host before each line.
func (c *Cluster) StartAgents(ctx context.Context, errOut io.Writer, number map[string]int) ([]Agent, error) {
	errs := &lines{to: errOut}
	hosts := c.where(func(h *Host) bool { return number[h.Name] > 0 })
	agents := make([][]Agent, len(c.Hosts))
	if err := c.arrive(ctx, hosts); err != nil {
		return nil, err
	}
	err := c.each(ctx, hosts, func(i int, h *reach.Host) error {
		for n := range number[h.Name] {
			args := []string{"agent"}
			args = append(args, c.at(h.Name)...)
			if n == 0 {
				args = append(args, "--reserve")
			}
			argv, err := h.Program(ctx, args...)
			if err != nil {
				return err
			}
			p, err := h.Start(ctx, errs.of(h.Name), argv...)
			if err != nil {
				return err
			}
			agents[i] = append(agents[i], Agent{Host: h.Name, Process: p})
		}
		return nil
	})
	all := slices.Concat(agents...)
	if err != nil {
		_ = CloseAgents(all) // what it says follows from err
		return nil, err
	}
	return all, nil
}

// CloseAgents ends agents, all at once.
func CloseAgents(agents []Agent) error {
	errs := make([]error, len(agents))
	var all sync.WaitGroup
	for i := range agents {
		all.Go(func() {
			if err := agents[i].Close(); err != nil {
				errs[i] = &HostError{Host: agents[i].Host, Err: err}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// lines passes on whole lines of several writers.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) of(host string) io.Writer { return &hostLines{all: l, head: host + ": "} }

type hostLines struct {
	all  *lines
	head string
	rest []byte
}

func (h *hostLines) Write(p []byte) (int, error) {
	h.rest = append(h.rest, p...)
	for {
		end := bytes.IndexByte(h.rest, '\n')
		if end < 0 {
			return len(p), nil
		}
		h.all.mu.Lock()
		_, _ = io.WriteString(h.all.to, h.head+string(h.rest[:end+1])) // the terminal may be gone
		h.all.mu.Unlock()
		h.rest = h.rest[end+1:]
	}
}

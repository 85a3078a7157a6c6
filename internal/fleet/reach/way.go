package reach

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

// mostDials is how many connections are made at the same time. An sshd refuses some of
// more than ten (MaxStartups), and a jump host or an API server sees those of all hosts.
const mostDials = 8

// Way is how programs are run on a set of hosts. Its methods may be called at the same time.
type Way struct {
	// Notices is told what is done unasked, a sentence each; it may be nil. Set it
	// before the Way is used.
	Notices func(string)

	hosts    []*Host
	gate     chan struct{} // has room for the dials that may go on
	sockets  *socketDir    // nil if no host is reached by ssh
	binaries binaries
	telling  sync.Mutex
}

// Open prepares the way to the hosts. It reaches none of them yet: see Connect.
func Open(hosts []inventory.Host) (*Way, error) {
	w := &Way{gate: make(chan struct{}, mostDials)}
	masters := false
	for i := range hosts {
		h, err := newHost(w, &hosts[i])
		if err != nil {
			return nil, err
		}
		masters = masters || h.form == openSSH
		w.hosts = append(w.hosts, h)
	}
	if !masters {
		return w, nil
	}
	var err error
	w.sockets, err = newSocketDir()
	return w, err
}

// Close ends the connections. Processes that still run there lose their standard input.
func (w *Way) Close() error {
	if w.sockets == nil {
		return nil
	}
	return w.sockets.remove()
}

// Hosts returns all hosts in the order of the inventory.
func (w *Way) Hosts() []*Host { return w.hosts }

// Host returns a host by its name, nil if there is none.
func (w *Way) Host(name string) *Host {
	for _, h := range w.hosts {
		if h.Name == name {
			return h
		}
	}
	return nil
}

// Connect reaches all hosts at least once, so that whatever keeps one from being
// reached is known before anything starts. What it returns then is a *HostsError.
func (w *Way) Connect(ctx context.Context) error {
	return w.forAll(ctx, func(_ int, h *Host) error { return h.connect(ctx) })
}

// Look looks at all hosts. The looks are in the order of Hosts, nil for one that was not
// reached. If some are not ready the error is a *HostsError.
func (w *Way) Look(ctx context.Context) ([]*Look, error) {
	looks := make([]*Look, len(w.hosts))
	err := w.forAll(ctx, func(i int, h *Host) error {
		var err error
		looks[i], err = h.Look(ctx)
		return err
	})
	return looks, err
}

// forAll does something with all hosts at the same time and puts the failures together.
func (w *Way) forAll(ctx context.Context, do func(int, *Host) error) error {
	failures := make([]error, len(w.hosts))
	var all sync.WaitGroup
	for i, h := range w.hosts {
		all.Go(func() { failures[i] = do(i, h) })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return hostsError(ctx, w, failures)
}

// pass waits for a place among the dials, and returns what gives it back. That may be
// called more than once.
func (w *Way) pass(ctx context.Context) (leave func(), err error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case w.gate <- struct{}{}:
		return sync.OnceFunc(func() { <-w.gate }), nil
	}
}

func (w *Way) notice(format string, args ...any) {
	if w.Notices == nil {
		return
	}
	w.telling.Lock()
	defer w.telling.Unlock()
	w.Notices(fmt.Sprintf(format, args...))
}

var errClosed = errors.New("the way to the hosts is closed")

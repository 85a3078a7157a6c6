package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// Cluster is a record in use: with the way to its hosts, and held by this process if it
// was made or taken.
type Cluster struct {
	Record
	store   *Store
	way     *reach.Way
	release func()
}

// Options say what is made.
type Options struct {
	ID        string // unique; see result.NewName
	Run       string // the load that it is for; empty: it stays until it is stopped
	Source    string
	Hosts     []inventory.Host
	Task      fleet.Task   // of every host; count, first number, address and keys are filled in
	NoBricks  bool         // whatever the inventory says: only agents are to run
	Notices   func(string) `json:"-"`
	Plaintext bool
}

// Make records a cluster of which nothing runs yet, and reaches its hosts. A host that
// cannot be reached is an error, and then nothing is recorded. What runs on the same hosts from the
// same inventory is a *PresentError.
func (s *Store) Make(ctx context.Context, o Options) (_ *Cluster, err error) {
	if err := s.refuseSecond(&o); err != nil {
		return nil, err
	}
	c := &Cluster{store: s, Record: Record{
		ID: o.ID, Run: o.Run, Source: o.Source, Made: time.Now().UTC(), Profile: o.Task.Profile, Plaintext: o.Plaintext,
	}}
	first := session.BrickID(1)
	for _, h := range o.Hosts {
		host := Host{Host: h, Untouched: true}
		for range h.Bricks {
			if !o.NoBricks {
				host.Started = append(host.Started, remote.Brick{ID: first})
				first++
			}
		}
		c.Hosts = append(c.Hosts, host)
	}
	if err := c.open(o.Notices); err != nil {
		return nil, err
	}
	added := false
	defer func() {
		if err != nil && added {
			err = errors.Join(err, s.forget(c.ID)) // no host was touched
		}
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := c.way.Connect(ctx); err != nil {
		return nil, err
	}
	if err := s.add(&c.Record); err != nil {
		return nil, err
	}
	added = true
	if c.release, err = s.Hold(c.ID); err != nil {
		return nil, err
	}
	if c.Plaintext || o.NoBricks {
		return c, nil
	}
	authority, err := secure.NewAuthority()
	if err != nil {
		return nil, err
	}
	return c, authority.Keep(s.keysPath(c.ID))
}

func (s *Store) keysPath(id string) string { return filepath.Join(s.dir, id, "keys", keysFile) }

// Take opens a record that exists, without holding it.
func (s *Store) Take(r *Record, notices func(string)) (*Cluster, error) {
	c := &Cluster{store: s, Record: *r}
	return c, c.open(notices)
}

// Hold reserves the cluster until it is closed; see Store.Hold.
func (c *Cluster) Hold() (err error) {
	c.release, err = c.store.Hold(c.ID)
	return err
}

func (c *Cluster) open(notices func(string)) (err error) {
	entries := make([]inventory.Host, len(c.Hosts))
	for i := range c.Hosts {
		entries[i] = c.Hosts[i].Host
	}
	if c.way, err = reach.Open(entries); err != nil {
		return err
	}
	c.way.Notices = notices
	return nil
}

// Close ends the connections to the hosts and gives the cluster back. What runs there goes on.
func (c *Cluster) Close() error {
	if c.release != nil {
		c.release()
	}
	return c.way.Close()
}

// Keys returns keys for one more member; nil if the cluster speaks plaintext.
func (c *Cluster) Keys(name string) (*secure.Keys, error) { return c.store.Keys(&c.Record, name) }

// Keys returns keys for one more member of a recorded cluster; nil if it speaks plaintext.
func (s *Store) Keys(r *Record, name string) (*secure.Keys, error) {
	if r.Plaintext {
		return nil, nil
	}
	authority, err := s.authority(r)
	if err != nil {
		return nil, err
	}
	keys, err := authority.Issue(name)
	return &keys, err
}

func (s *Store) authority(r *Record) (*secure.Authority, error) {
	authority, err := secure.Kept(s.keysPath(r.ID))
	if err != nil {
		return nil, fmt.Errorf("%w: without them nobody can speak with the bricks: ssmctl clean --hosts %s removes them, then start anew", err, r.Source)
	}
	return authority, nil
}

// PresentError says that something runs already from the same inventory.
type PresentError struct {
	Record *Record
	Busy   *BusyError // nil if no ssmctl is at it
}

func (e *PresentError) Error() string {
	switch r := e.Record; {
	case e.Busy != nil:
		return e.Busy.Error()
	case r.Run != "":
		return fmt.Sprintf("load %s has ended, and what it has on the hosts is not removed yet: ssmctl clean --run %s", r.Run, r.Run)
	case len(r.Bricks()) == 0:
		return (&IncompleteError{Record: r}).Error()
	default:
		return fmt.Sprintf("cluster %s of %s runs already: ssmctl brick stop --hosts %s ends it", r.ID, r.Source, r.Source)
	}
}

// refuseSecond looks for what runs from the same inventory.
func (s *Store) refuseSecond(o *Options) error {
	all, err := s.Records()
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Source != o.Source {
			continue
		}
		busy, err := s.busy(r.ID)
		if err != nil {
			return err
		}
		if busy == nil && r.Run == "" && o.NoBricks {
			continue // its bricks are the ones to be used
		}
		return &PresentError{Record: r, Busy: busy}
	}
	return nil
}

// HostError is what went wrong on one host.
type HostError struct {
	Host string
	Err  error
}

func (e *HostError) Error() string {
	text, head := e.Err.Error(), e.Host+": "
	if strings.HasPrefix(text, head) {
		return text // the way to the host has said it
	}
	return head + text
}

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

// each does something on hosts at once. It returns what went wrong, host by host; after an
// interruption only that, from which the rest follows.
func (c *Cluster) each(ctx context.Context, hosts []int, do func(i int, h *reach.Host) error) error {
	errs := make([]error, len(hosts))
	var all sync.WaitGroup
	for n, i := range hosts {
		all.Go(func() {
			if err := do(i, c.way.Hosts()[i]); err != nil {
				errs[n] = &HostError{Host: c.Hosts[i].Name, Err: err}
			}
		})
	}
	all.Wait()
	err := errors.Join(errs...)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return err
}

func (c *Cluster) where(is func(*Host) bool) (hosts []int) {
	for i := range c.Hosts {
		if is(&c.Hosts[i]) {
			hosts = append(hosts, i)
		}
	}
	return hosts
}

func (c *Cluster) all() []int { return c.where(func(*Host) bool { return true }) }

func (c *Cluster) withBricks() []int {
	return c.where(func(h *Host) bool { return len(h.Started) > 0 })
}

// at is the arguments that let ssmctl on a host work at the cluster's place there.
func (c *Cluster) at(host string, args ...string) []string {
	return slices.Concat(args, []string{"--cluster", c.ID, "--host", host})
}

// Look tells what the hosts are, in their order. ssmctl is there when it returns.
func (c *Cluster) Look(ctx context.Context) ([]*reach.Look, error) { return c.way.Look(ctx) }

// ask runs ssmctl on a host and reads its JSON.
func (c *Cluster) ask(ctx context.Context, h *reach.Host, answer any, args ...string) error {
	out, err := h.Ssmctl(ctx, nil, c.at(h.Name, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return fmt.Errorf("the answer of ssmctl %s: %w", args[0], err)
	}
	return nil
}

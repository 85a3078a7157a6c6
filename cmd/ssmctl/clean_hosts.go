package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

// cleaning is what is to be cleaned, and what stands in the way.
type cleaning struct {
	records []*cluster.Record
	hosts   []inventory.Host // of --hosts
	failed  error            // of hosts that could not be asked, and of what is left alone
}

// ofHosts finds what an inventory has: by the records of this machine, and by asking its
// hosts, for a record may be lost.
func (w *cleaning) ofHosts(c *cli.Context, store *cluster.Store) error {
	source, err := sourceOf(c)
	if err != nil {
		return err
	}
	all, err := store.Records()
	if err != nil {
		return err
	}
	w.records = slices.DeleteFunc(all, func(r *cluster.Record) bool { return r.Source != source })
	if run := c.String("run"); run != "" {
		r, err := recordOnHosts(c, store, run, source)
		if err != nil {
			return err
		}
		w.records = []*cluster.Record{r}
	}
	inv, err := inventoryOf(c, source)
	if err != nil && c.String("run") == "" && len(w.records) > 0 {
		return sayf(c, "%v\nonly what is recorded is cleaned: no other host is asked", err)
	}
	if err != nil {
		return err
	}
	w.hosts = slices.DeleteFunc(inv.Hosts, func(h inventory.Host) bool { return slices.Contains(c.StringSlice("forget"), h.Name) })
	if c.String("run") != "" {
		addHosts(w.records[0], w.hosts)
		return nil
	}
	return w.askHosts(c, store)
}

// recordOnHosts is what is recorded under an ID, of a load or of bricks that were started to
// stay; or a record without hosts, to which those of the inventory come.
func recordOnHosts(c *cli.Context, store *cluster.Store, id, source string) (*cluster.Record, error) {
	if found, err := recordsOfRun(c, store, id); err == nil && len(found) > 0 {
		return found[0], nil
	}
	if err := (fleet.Place{Cluster: id, Host: id}).Validate(); err != nil {
		return nil, usagef("--run: %w", err)
	}
	if r, err := store.Record(id); err == nil {
		return r, nil
	}
	return cluster.RecordOf(id, source, nil), nil
}

// addHosts lets a record name more hosts.
func addHosts(r *cluster.Record, hosts []inventory.Host) {
	for _, h := range hosts {
		if !slices.ContainsFunc(r.Hosts, func(known cluster.Host) bool { return known.Name == h.Name }) {
			r.Hosts = append(r.Hosts, cluster.Host{Host: h})
		}
	}
}

// askHosts adds what the hosts hold and nothing here knows of. What is recorded of another
// inventory is left alone, and so is everything while somebody's load runs there.
func (w *cleaning) askHosts(c *cli.Context, store *cluster.Store) error {
	held, err := cluster.Held(c.Context, w.hosts, noticesOf(c))
	if c.Err() != nil {
		return c.Err()
	}
	w.failed = err
	var lost []*cluster.Record
	for _, id := range slices.Sorted(maps.Keys(held)) {
		if n := slices.IndexFunc(w.records, func(r *cluster.Record) bool { return r.ID == id }); n >= 0 {
			addHosts(w.records[n], held[id]) // one that was forgotten may be back
			continue
		}
		if other, err := store.Record(id); err == nil {
			if err := sayf(c, "cluster %s of %s is on some of these hosts too: it is left alone", id, other.Source); err != nil {
				return err
			}
			continue
		}
		lost = append(lost, cluster.RecordOf(id, c.String("hosts"), held[id]))
	}
	for _, r := range lost {
		users, err := agentsOf(c, store, r)
		if err != nil { // whether it is in use is not known
			w.failed = errors.Join(w.failed, err)
			return nil
		}
		if len(users) > 0 {
			slices.Sort(users)
			w.failed = errors.Join(w.failed, fmt.Errorf("load %s runs on %s, started from elsewhere: what is not recorded here is left alone: wait for it, or end it with ssmctl clean --run %s --hosts %s",
				r.ID, strings.Join(users, ", "), r.ID, c.String("hosts")))
			return nil
		}
	}
	for _, r := range lost {
		if err := sayf(c, "cluster %s is on %s, and nothing is recorded of it here", r.ID, plural(len(r.Hosts), "host")); err != nil {
			return err
		}
	}
	w.records = append(w.records, lost...)
	return nil
}

// agentsOf returns the hosts on which a cluster has agents.
func agentsOf(c *cli.Context, store *cluster.Store, r *cluster.Record) (hosts []string, err error) {
	found, err := store.Take(r, nil)
	if err != nil {
		return nil, err
	}
	swept, err := found.Sweep(c.Context, cluster.SweepOptions{Dry: true})
	for i := range swept {
		if len(swept[i].Agents) > 0 {
			hosts = append(hosts, swept[i].Host)
		}
	}
	return hosts, errors.Join(err, found.Close())
}

// forget takes the hosts of --forget out of the records and says what that means.
func (w *cleaning) forget(c *cli.Context, store *cluster.Store) error {
	names := c.StringSlice("forget")
	if len(names) == 0 {
		return nil // and no record need be held
	}
	gone := make(map[string]bool)
	for _, r := range w.records {
		var dropped []string
		drop := func() (err error) {
			dropped, err = store.Drop(r, names)
			return err
		}
		if err := whileHeld(store, r, drop); err != nil {
			return err
		}
		for _, name := range dropped {
			gone[name] = true
			if err := sayf(c, "%s is forgotten: what %s has there stays there, and is not known here any more; if it comes back, ssmctl clean --run %s --hosts FILE asks it", name, r.ID, r.ID); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		if !gone[name] {
			return usagef("--forget: no record that is to be cleaned names %s", name)
		}
	}
	return nil
}

// whileHeld does something with a record that nobody else may use then. One that comes from a
// manifest or from hosts has no place to hold.
func whileHeld(store *cluster.Store, r *cluster.Record, do func() error) error {
	release, err := store.Hold(r.ID)
	if errors.As(err, new(*cluster.BusyError)) {
		return err
	}
	if err == nil {
		defer release()
	}
	return do()
}

// uncache removes the copies of ssmctl from all hosts that were named or recorded.
func (w *cleaning) uncache(c *cli.Context) error {
	hosts := slices.Clone(w.hosts)
	for _, r := range w.records {
		for _, h := range r.Hosts {
			if !slices.ContainsFunc(hosts, func(known inventory.Host) bool { return known.Name == h.Name }) {
				hosts = append(hosts, h.Host)
			}
		}
	}
	return cluster.Uncache(c.Context, hosts, noticesOf(c))
}

// distinct says each thing once: a host may be out of reach when it is asked and when it is swept.
func distinct(err error) error {
	var all []error
	told := make(map[string]bool)
	var walk func(error)
	walk = func(err error) {
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, err := range many.Unwrap() {
				walk(err)
			}
			return
		}
		if err != nil && !told[err.Error()] {
			told[err.Error()] = true
			all = append(all, err)
		}
	}
	walk(err)
	return errors.Join(all...)
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

// far is a load on other machines.
type far struct {
	load  *cluster.Cluster // the load's own: its agents, and its bricks if it has some
	looks []*reach.Look    // of its hosts, in their order
	given *cluster.Record  // whose bricks it uses, which run already; nil if they are its own
	held  func()           // gives those back
}

// checkHosts reads the flags that say where the load runs.
func (l *loading) checkHosts(c *cli.Context) (err error) {
	l.lose = c.Bool("allow-lost-hosts")
	if !c.IsSet("hosts") {
		for _, name := range []string{"via", "plaintext", "allow-lost-hosts"} {
			if c.IsSet(name) && !c.IsSet("resume") {
				return usagef("--%s: this is for a load on other machines: name them with --hosts", name)
			}
		}
		return nil
	}
	if c.IsSet("bricks") {
		return usagef("--bricks: with --hosts the inventory says how many bricks start on which host: leave it out")
	}
	l.source, err = sourceOf(c)
	return err
}

// resumeHosts goes back to the hosts on which a run was begun.
func (l *loading) resumeHosts(m *result.Manifest) error {
	switch {
	case m.Fleet == nil && l.source != "":
		return usagef("--hosts: %s was measured on one machine: leave it out", m.Run)
	case m.Fleet != nil && l.source == "":
		l.source = m.Fleet.Inventory
	}
	return nil
}

// onHosts is load with --hosts, from the inventory to the result.
func (l *loading) onHosts(c *cli.Context) (err error) {
	inv, err := inventoryOf(c, l.source)
	if err != nil {
		return err
	}
	if len(inv.LoadHosts()) == 0 {
		return usagef("--hosts: %s has no host for load machines: give one load: true", l.source)
	}
	if err := warnPlaintext(c, inv.BrickHosts()); err != nil {
		return err
	}
	f := &far{}
	store := openStore(c)
	if f.given, err = store.Of(l.source); err != nil {
		return err
	}
	if f.given != nil {
		if err := store.Whole(f.given); err != nil {
			return err
		}
	}
	if err := l.chooseFar(c, f, inv); err != nil {
		return err
	}
	if err := l.make(c, f, inv); err != nil {
		return err
	}
	measured := l.runFar(c, f)
	ended := f.end()
	if l.dir == nil {
		return inOneLine(measured, ended)
	}
	err = l.conclude(c, measured)
	if err != nil && ended != nil {
		return errors.Join(err, ended)
	}
	return inOneLine(err, ended)
}

// chooseFar decides on the bricks, and checks the plan against them. Nothing has been
// reached yet.
func (l *loading) chooseFar(c *cli.Context, f *far, inv *inventory.Inventory) (err error) {
	bricks, resumed := 0, c.IsSet("resume")
	if f.given != nil {
		if l.profile.Name != "" && !l.profile.Same(&f.given.Profile) {
			return usagef("--profile: the running bricks have profile %s, and %s differs: leave it out, or ssmctl brick stop --hosts first",
				f.given.Profile.Name, l.profile.Name)
		}
		l.profile, bricks = f.given.Profile, len(f.given.Bricks())
	} else {
		for _, h := range inv.BrickHosts() {
			bricks += h.Bricks
		}
		if bricks == 0 {
			return usagef("--hosts: %s has no host for bricks: give one bricks: N", l.source)
		}
	}
	if l.profile.Name == "" {
		if l.profile, err = profile.ByName(defaultProfile); err != nil {
			return err
		}
	}
	own := f.given == nil
	switch {
	case resumed && own != l.plan.Embedded:
		return usagef("--resume: the run was measured on %s bricks, and that is not what there is now: see ssmctl brick list --hosts", ownOrRunning(l.plan.Embedded))
	case resumed && bricks != l.plan.Bricks:
		return usagef("--resume: the run was measured on %d bricks, now there are %d", l.plan.Bricks, bricks)
	}
	l.plan.Bricks, l.plan.Embedded = bricks, own
	return l.checkQuorum()
}

func ownOrRunning(own bool) string {
	if own {
		return "its own"
	}
	return "running"
}

// make records the load, reaches its hosts and starts its bricks. After an error nothing
// is left.
func (l *loading) make(c *cli.Context, f *far, inv *inventory.Inventory) (err error) {
	store := openStore(c)
	run, err := l.runName(c, store, inv)
	if err != nil {
		return err
	}
	o := cluster.Options{
		ID: run, Run: run, Source: l.source, Hosts: inv.Hosts, NoBricks: f.given != nil, Notices: func(what string) { l.say.linef("%s", what) },
		Task: fleet.Task{Profile: l.profile, Protection: protect.On.String()}, Plaintext: c.Bool("plaintext"),
	}
	if o.NoBricks {
		o.Hosts = inv.LoadHosts()
	}
	if f.load, err = store.Make(c.Context, o); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.end())
		}
	}()
	if o.NoBricks {
		if f.held, err = store.Hold(f.given.ID); err != nil {
			return err
		}
	}
	if f.looks, err = f.load.Look(c.Context); err != nil {
		return err
	}
	if !o.NoBricks {
		if _, err = f.load.Start(c.Context, o.Task); err != nil {
			return err
		}
		l.bricks = f.load.Bricks()
		l.keys, err = f.load.Keys("load")
		l.say.linef("started %s on their hosts, profile %s (%s); they stop with this load", plural(len(l.bricks), "brick"), l.profile.Name, l.profile.Processor.Kind)
		return err
	}
	l.bricks = f.given.Bricks()
	l.keys, err = store.Keys(f.given, "load")
	l.say.linef("using %s of cluster %s, profile %s (%s)", plural(len(l.bricks), "brick"), f.given.ID, l.profile.Name, l.profile.Processor.Kind)
	return err
}

// runName is the name of the run, which names its places on the hosts too. What an earlier
// try at the same run has left there is removed; a host that cannot be reached and is not
// wanted any more does not stand in the way.
func (l *loading) runName(c *cli.Context, store *cluster.Store, inv *inventory.Inventory) (string, error) {
	if !c.IsSet("resume") {
		return result.NewName(time.Now()), nil
	}
	run, err := result.Open(l.resumePath(c))
	if err != nil {
		return "", err
	}
	name := run.Manifest.Run
	left, err := store.OfRun(name)
	if err != nil || left == nil {
		return name, err
	}
	release, err := store.Hold(left.ID)
	if err != nil {
		return "", err
	}
	release()
	l.say.linef("removing what the run has left on its hosts")
	return name, l.removeOld(c, store, left, inv)
}

// removeOld removes what is left of a run before it is resumed.
func (l *loading) removeOld(c *cli.Context, store *cluster.Store, left *cluster.Record, inv *inventory.Inventory) error {
	old, err := store.Take(left, nil)
	if err != nil {
		return err
	}
	swept, err := old.Sweep(c.Context, cluster.SweepOptions{})
	if err = errors.Join(err, old.Close()); err == nil || c.Err() != nil {
		return err
	}
	var gone []string
	for i := range swept {
		wanted := slices.ContainsFunc(inv.Hosts, func(h inventory.Host) bool { return h.Name == swept[i].Host })
		switch {
		case swept[i].Err == nil:
		case wanted:
			return fmt.Errorf("%w\nleave the host out of the inventory, or drop it with ssmctl clean --run %s --forget HOST", err, left.ID)
		default:
			gone = append(gone, swept[i].Host)
		}
	}
	if len(gone) == 0 {
		return err
	}
	l.say.linef("%s: not reached, and not in %s: what the run may have left there is not known any more; if it comes back, ssmctl clean --run %s --hosts FILE asks it",
		strings.Join(gone, ", "), l.source, left.ID)
	if _, err := store.Drop(left, gone); err != nil {
		return err
	}
	rest, err := store.Take(left, nil)
	if err != nil {
		return err
	}
	_, err = rest.Sweep(c.Context, cluster.SweepOptions{}) // once more, for now the record can go with it
	return errors.Join(err, rest.Close())
}

// runFar measures on the hosts, once the run directory says where.
func (l *loading) runFar(c *cli.Context, f *far) (err error) {
	agents := f.shares(l.mostMachines())
	if c.IsSet("resume") {
		l.dir, err = result.Resume(l.resumePath(c), l.skip)
	} else {
		m := manifestOf(&l.plan, &l.profile)
		f.fill(&m, agents)
		l.dir, err = result.Create(c.String("out"), m)
	}
	if err != nil {
		return err
	}
	started, err := f.load.StartAgents(c.Context, l.say.err, agents)
	if err != nil {
		return err
	}
	for _, a := range started {
		l.agents = append(l.agents, coordinator.Agent{Host: a.Host, In: a.In, Out: a.Out})
	}
	err = l.measure(c.Context, func(host string, trip time.Duration) {
		// The start of each level has allowed for it; the event is for the reader.
		_ = l.dir.AddEvent(result.Event{Time: time.Now().UTC(), Level: -1, Kind: "round-trip", Who: host, What: trip.Round(time.Microsecond).String()})
	})
	closing := cluster.CloseAgents(started)
	var lost *coordinator.LostError
	if errors.As(err, &lost) {
		return fmt.Errorf("%w: --allow-lost-hosts goes on with the others", err) // of their ends that is all there is to say
	}
	if l.lose {
		return err
	}
	return inOneLine(err, closing)
}

// shares is how many agents each host gets, by its name: one for each core, and no more
// than it can have machines.
func (f *far) shares(machines int) map[string]int {
	hosts := 0
	for i := range f.load.Hosts {
		if f.load.Hosts[i].Load {
			hosts++
		}
	}
	agents := make(map[string]int)
	for i := range f.load.Hosts {
		if f.load.Hosts[i].Load {
			agents[f.load.Hosts[i].Name] = min(max(f.looks[i].Facts.Cores, 1), (machines+hosts-1)/hosts)
		}
	}
	return agents
}

// fill tells the manifest where the load runs.
func (f *far) fill(m *result.Manifest, agents map[string]int) {
	m.Run = f.load.ID
	m.Hosts = nil
	m.Fleet = &result.Fleet{Inventory: f.load.Source, OwnBricks: f.given == nil}
	for i := range f.load.Hosts {
		h, facts := &f.load.Hosts[i], &f.looks[i].Facts
		if h.Load {
			m.Hosts = append(m.Hosts, h.Name)
		}
		host := fleetHost(&h.Host)
		host.OS, host.Arch, host.Kernel, host.Cores, host.Agents = facts.OS, facts.Arch, facts.Kernel, facts.Cores, agents[h.Name]
		for _, b := range h.Started {
			host.Bricks = append(host.Bricks, result.FleetBrick{ID: b.ID.String(), Addr: b.Addr})
		}
		m.Fleet.Hosts = append(m.Fleet.Hosts, host)
	}
}

// end takes down what the load has on its hosts and gives back what it has used.
func (f *far) end() error {
	err := end(f.load)
	if f.held != nil {
		f.held()
	}
	if closing := f.load.Close(); err == nil {
		err = closing
	}
	return err
}

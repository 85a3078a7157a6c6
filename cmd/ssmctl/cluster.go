package main

import (
	"context"
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
	"github.com/ssmctl/ssmctl/internal/result"
)

func hostsFlag() cli.Flag {
	return &cli.StringFlag{Name: "hosts", Usage: "on the hosts of an inventory, `FILE`, slurm:PARTITION or k8s:SELECTOR, instead of this machine"}
}

func viaFlag() cli.Flag {
	return &cli.StringFlag{Name: "via", Usage: "with --hosts: reach every host by `CMD`, such as 'docker exec -i {host}'"}
}

// clusterFlags are those of a command that works on this machine, on the hosts of an
// inventory, and for another ssmctl on one of these.
func clusterFlags(more ...cli.Flag) []cli.Flag {
	return placeFlags(append(slices.Clip(more), hostsFlag())...)
}

// openStore opens the records of clusters, and says on standard error which are damaged.
func openStore(c *cli.Context) *cluster.Store {
	store := cluster.OpenStore("")
	store.Notices = noticesOf(c)
	return store
}

// checkVia refuses an empty --via, which would be taken for none.
func checkVia(c *cli.Context) error {
	if c.IsSet("via") && strings.TrimSpace(c.String("via")) == "" {
		return usagef("--via: empty: give a command such as 'ip netns exec {name}', or leave it out")
	}
	return nil
}

// sourceOf returns the inventory that --hosts names: the same however the path is written.
func sourceOf(c *cli.Context) (string, error) {
	source := c.String("hosts")
	if source == "" {
		return "", usagef("--hosts: empty: name an inventory")
	}
	source, err := reach.Source(source)
	if err != nil {
		return "", usagef("--hosts: %w", err)
	}
	return source, nil
}

// readInventory reads the inventory as it stands.
func readInventory(c *cli.Context, source string) (*inventory.Inventory, error) {
	inv, err := reach.Inventory(c.Context, source)
	switch {
	case errors.As(err, new(*reach.SourceError)), c.Err() != nil:
		return nil, err // a scheduler has no answer: the command line may be right
	case err != nil:
		return nil, usage(err)
	}
	return inv, nil
}

// inventoryOf reads the inventory, with --via in place of its own ways.
func inventoryOf(c *cli.Context, source string) (*inventory.Inventory, error) {
	if err := checkVia(c); err != nil {
		return nil, err
	}
	inv, err := readInventory(c, source)
	if err != nil {
		return nil, err
	}
	if via := c.String("via"); via != "" {
		for i := range inv.Hosts {
			inv.Hosts[i].Via = via
			if _, _, err := inv.Hosts[i].Command(); err != nil {
				return nil, usagef("--via: %s: %w", inv.Hosts[i].Name, err)
			}
		}
		if len(inv.Hosts) > 1 && !inventory.NamesHost(via) {
			return nil, usagef("--via: %s", inventory.OneForAll)
		}
	}
	return inv, nil
}

// endWithin bounds how long a cluster is cleaned up after an interruption.
const endWithin = time.Minute

// end takes a cluster down, also after an interruption.
func end(c *cluster.Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	return c.End(ctx)
}

// noClusterError says that nothing runs of an inventory.
type noClusterError struct{ source string }

func (e *noClusterError) Error() string {
	return fmt.Sprintf("no bricks of %[1]s are running: ssmctl brick start --hosts %[1]s; if there should be some, ssmctl clean --hosts %[1]s --dry-run asks the hosts", e.source)
}

// recordedCluster finds what runs of the inventory of --hosts, and opens the way to it. A
// record of which no brick was ever up is an error, unless it is wanted to be ended.
func recordedCluster(c *cli.Context, whole bool) (*cluster.Cluster, error) {
	source, err := sourceOf(c)
	if err != nil {
		return nil, err
	}
	store := openStore(c)
	record, err := store.Current(source)
	if err != nil {
		return nil, err
	}
	if record == nil {
		if _, err := inventoryOf(c, source); err != nil {
			return nil, err // the name is wrong, most likely
		}
		return nil, &noClusterError{source: c.String("hosts")}
	}
	if whole {
		if err := store.Whole(record); err != nil {
			return nil, err
		}
	}
	return store.Take(record, noticesOf(c))
}

// withCluster does something with the cluster of --hosts and closes the way to it.
func withCluster(c *cli.Context, do func(*cluster.Cluster) error) error {
	return withRecord(c, true, do)
}

func withRecord(c *cli.Context, whole bool, do func(*cluster.Cluster) error) error {
	found, err := recordedCluster(c, whole)
	if err != nil {
		return err
	}
	err = do(found)
	if closeErr := found.Close(); err == nil {
		err = closeErr
	}
	return err
}

// checkStartOnHosts refuses what the inventory says.
func checkStartOnHosts(c *cli.Context) error {
	if !c.IsSet("hosts") {
		if c.IsSet("via") {
			return usagef("--via: this is how hosts are reached: name them with --hosts")
		}
		return nil
	}
	for _, name := range []string{"count", "listen", "add", "foreground"} {
		if c.IsSet(name) {
			return usagef("--%s: with --hosts the inventory says how many bricks start on which host and where they listen: leave it out", name)
		}
	}
	return nil
}

func taskOf(o *fleet.StartOptions) fleet.Task {
	return fleet.Task{Profile: o.Profile, Protection: o.Protection.String(), Memory: o.Memory, Inbox: o.Inbox}
}

func startOnHosts(c *cli.Context, o *fleet.StartOptions) (err error) {
	source, err := sourceOf(c)
	if err != nil {
		return err
	}
	inv, err := inventoryOf(c, source)
	if err != nil {
		return err
	}
	hosts := inv.BrickHosts()
	if len(hosts) == 0 {
		return usagef("--hosts: %s has no host for bricks: give one bricks: N", c.String("hosts"))
	}
	if err := warnPlaintext(c, hosts); err != nil {
		return err
	}
	task := taskOf(o)
	made, err := openStore(c).Make(c.Context, cluster.Options{
		ID: result.NewName(time.Now()), Source: source, Hosts: hosts, Task: task, Notices: noticesOf(c), Plaintext: c.Bool("plaintext"),
	})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := made.Close(); err == nil {
			err = closeErr
		}
	}()
	started, err := made.Start(c.Context, task)
	if err != nil {
		return errors.Join(err, end(made))
	}
	var rows []startedRow
	for i := range started {
		rows = append(rows, startedRows(made.Hosts[i].Name, started[i])...)
	}
	return renderStarted(c, rows)
}

// warnPlaintext says what --plaintext means where others can reach the bricks.
func warnPlaintext(c *cli.Context, hosts []inventory.Host) error {
	if !c.Bool("plaintext") {
		return nil
	}
	var exposed []string
	for i := range hosts {
		if fleet.Exposed(hosts[i].Listen + ":0") {
			exposed = append(exposed, hosts[i].Name)
		}
	}
	if len(exposed) == 0 {
		return nil
	}
	return sayf(c, "--plaintext: whoever can reach the bricks on %s can read, change and command them", strings.Join(exposed, ", "))
}

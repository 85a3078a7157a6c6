package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
	"github.com/ssmctl/ssmctl/internal/report"
	"github.com/ssmctl/ssmctl/internal/result"
)

const cleanHelp = `Removes what a load or a cluster has on other machines: it stops bricks and agents,
removes records, logs and keys, looks again, and says what it found. It works from
the record alone, which is written before anything starts, so also after a crash.

Without --run and --hosts it removes what killed loads have left. With --hosts it
removes everything of an inventory, the bricks of ssmctl brick start included.
A host that cannot be reached is named, its record is kept, and the exit code is 4:
run it again. To run it again never does harm.

  ssmctl clean --dry-run                      # what would be removed
  ssmctl clean
  ssmctl clean --run 20261130T161500Z-ab12cd  # of one load
  ssmctl clean --hosts lab.yaml --cache       # and the copies of ssmctl there`

func cleanCommand() *cli.Command {
	return &cli.Command{
		Name:        "clean",
		Usage:       "remove what loads and clusters have left on other machines",
		Description: cleanHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "what the load `RUN` has"},
			&cli.StringFlag{Name: "hosts", Usage: "what the inventory `FILE`, slurm:PARTITION or k8s:SELECTOR has"},
			&cli.StringFlag{Name: "via", Usage: "reach every host by `CMD`, not as it was reached then"},
			&cli.BoolFlag{Name: "cache", Usage: "remove the copies of ssmctl on the hosts too"},
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what there is"},
			outFlag(lookForRuns),
		},
		OnUsageError: onUsageError,
		Action:       clean,
	}
}

func clean(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.IsSet("run") && c.IsSet("hosts") {
		return usagef("--run, --hosts: choose one")
	}
	store := cluster.OpenStore("")
	if err := store.Prune(); err != nil {
		return err
	}
	records, err := toClean(c, store)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return sayf(c, "nothing to clean")
	}
	if err := reachBy(c.String("via"), records); err != nil {
		return err
	}
	table := report.Grid{
		Header: []string{"cluster", "host", "bricks", "agents", "files", "left"},
		Left:   []bool{true, true, false, false, false, true},
	}
	var errs []error
	for _, r := range records {
		swept, err := sweepRecord(c, store, r)
		for i := range swept {
			table.Add(sweptCells(r, &swept[i], c.Bool("dry-run"))...)
		}
		errs = append(errs, err)
	}
	if err := table.Write(c.App.Writer); err != nil {
		return err
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not everything could be cleaned, and the record of it is kept:\n%w", err)
	}
	return nil
}

// reachBy puts a command in place of those by which the hosts were reached: an allocation in
// which they were, say, has ended.
func reachBy(via string, records []*cluster.Record) error {
	if via == "" {
		return nil
	}
	for _, r := range records {
		for i := range r.Hosts {
			r.Hosts[i].Via = via
			if _, _, err := r.Hosts[i].Command(); err != nil {
				return usagef("--via: %s: %w", r.Hosts[i].Name, err)
			}
		}
	}
	return nil
}

// toClean chooses the records.
func toClean(c *cli.Context, store *cluster.Store) ([]*cluster.Record, error) {
	if run := c.String("run"); run != "" {
		return recordsOfRun(c, store, run)
	}
	all, err := store.Records()
	if err != nil {
		return nil, err
	}
	if c.IsSet("hosts") {
		source, err := sourceOf(c)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(all, func(r *cluster.Record) bool { return r.Source != source }), nil
	}
	var left []*cluster.Record
	for _, r := range all {
		release, err := store.Hold(r.ID)
		var busy *cluster.BusyError
		switch {
		case errors.As(err, &busy): // it runs
			continue
		case err != nil:
			return nil, err
		}
		release()
		if r.Run != "" {
			left = append(left, r)
			continue
		}
		if err := sayf(c, "cluster %s of %s is left alone: --hosts %s removes it", r.ID, r.Source, r.Source); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// recordsOfRun finds what a load has, by its record or else by the manifest of its run.
func recordsOfRun(c *cli.Context, store *cluster.Store, run string) ([]*cluster.Record, error) {
	e, findErr := result.Find(c.String("out"), run)
	if findErr == nil {
		run = e.Manifest.Run
	}
	r, err := store.OfRun(run)
	switch {
	case err != nil:
		return nil, err
	case r != nil:
		return []*cluster.Record{r}, nil
	case findErr != nil:
		return nil, usagef("--run: nothing is recorded of %s, and %w", run, findErr)
	case e.Manifest.Fleet == nil:
		return nil, nil // it was measured on this machine
	}
	return []*cluster.Record{manifestRecord(&e.Manifest)}, nil
}

func sweepRecord(c *cli.Context, store *cluster.Store, r *cluster.Record) (swept []cluster.Swept, err error) {
	dry := c.Bool("dry-run")
	if !dry {
		release, err := store.Hold(r.ID)
		var busy *cluster.BusyError
		if errors.As(err, &busy) {
			return nil, err
		}
		if err == nil { // a record that comes from a manifest has no place to hold
			defer release()
		}
	}
	found, err := store.Take(r, noticesOf(c))
	if err != nil {
		return nil, err
	}
	swept, err = found.Sweep(c.Context, cluster.SweepOptions{Dry: dry, Cache: c.Bool("cache")})
	if closing := found.Close(); err == nil {
		err = closing
	}
	return swept, err
}

func sweptCells(r *cluster.Record, s *cluster.Swept, dry bool) []string {
	left := "nothing"
	switch {
	case s.Err != nil && len(s.Left) == 0:
		return []string{r.ID, s.Host, "", "", "", "not known"}
	case len(s.Left) > 0:
		left = strings.Join(s.Left, ", ")
	case dry && !s.None():
		left = "all of it"
	}
	return []string{r.ID, s.Host, strconv.Itoa(len(s.Bricks)), strconv.Itoa(len(s.Agents)), strconv.Itoa(s.Files), left}
}

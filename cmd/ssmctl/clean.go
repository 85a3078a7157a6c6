package main

import (
	"errors"
	"fmt"
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
removes everything of an inventory, the bricks of ssmctl brick start included, and
asks the hosts what they hold: so it works without a record too. A host that cannot be
reached is named, its record is kept, and the exit code is 4: run it again, which never
does harm. --forget drops a host that will not come back from the record.

  ssmctl clean --dry-run                      # what would be removed
  ssmctl clean
  ssmctl clean --run 20261130T161500Z-ab12cd  # of one load
  ssmctl clean --run 20261130T161500Z-ab12cd --forget b3
  ssmctl clean --run 20261130T161500Z-ab12cd --hosts lab.yaml   # its record is lost
  ssmctl clean --hosts lab.yaml --cache       # and all copies of ssmctl there`

func cleanCommand() *cli.Command {
	return &cli.Command{
		Name:        "clean",
		Usage:       "remove what loads and clusters have left on other machines",
		Description: cleanHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "run", Usage: "what the load `RUN` has"},
			&cli.StringFlag{Name: "hosts", Usage: "what the inventory `FILE`, slurm:PARTITION or k8s:SELECTOR has"},
			&cli.StringFlag{Name: "via", Usage: "reach every host by `CMD`, not as it was reached then"},
			&cli.StringSliceFlag{Name: "forget", Usage: "with --run or --hosts: drop `HOST`, which is gone for good, from the record; may be repeated"},
			&cli.BoolFlag{Name: "cache", Usage: "remove the copies of ssmctl on the hosts too"},
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what there is"},
			outFlag(lookForRuns),
		},
		OnUsageError: onUsageError,
		Action:       clean,
	}
}

func checkClean(c *cli.Context) error {
	switch {
	case c.IsSet("forget") && !c.IsSet("run") && !c.IsSet("hosts"):
		return usagef("--forget: of which record? name it with --run or --hosts")
	case c.IsSet("forget") && c.Bool("dry-run"):
		return usagef("--forget, --dry-run: choose one")
	}
	return errors.Join(noArguments(c), checkVia(c))
}

func clean(c *cli.Context) error {
	if err := checkClean(c); err != nil {
		return err
	}
	store := openStore(c)
	if err := store.Prune(); err != nil {
		return err
	}
	w := &cleaning{}
	if err := w.choose(c, store); err != nil {
		return err
	}
	if err := w.forget(c, store); err != nil {
		return err
	}
	if err := reachBy(c.String("via"), w.records); err != nil {
		return err
	}
	err := distinct(errors.Join(w.failed, w.sweep(c, store)))
	if err == nil && c.Bool("cache") && !c.Bool("dry-run") {
		err = w.uncache(c)
	}
	switch {
	case c.Err() != nil:
		return c.Err()
	case err != nil:
		return fmt.Errorf("not everything could be cleaned, and what is recorded of it is kept; --forget HOST drops a host that is gone for good:\n%w", err)
	}
	return nil
}

// sweep sweeps all records and prints what was found.
func (w *cleaning) sweep(c *cli.Context, store *cluster.Store) error {
	if len(w.records) == 0 {
		return w.nothing(c)
	}
	table := report.Grid{
		Header: []string{"cluster", "host", "bricks", "agents", "files", "left"},
		Left:   []bool{true, true, false, false, false, true},
	}
	var errs []error
	for _, r := range w.records {
		swept, err := sweepRecord(c, store, r)
		for i := range swept {
			table.Add(sweptCells(r, &swept[i], c.Bool("dry-run"))...)
		}
		errs = append(errs, err)
	}
	if err := table.Write(c.App.Writer); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// nothing says how it is known that there is nothing.
func (w *cleaning) nothing(c *cli.Context) error {
	switch {
	case w.failed != nil:
		return nil // it is not known
	case len(w.hosts) > 0:
		return sayf(c, "nothing to clean: %s asked", plural(len(w.hosts), "host"))
	case c.IsSet("run"):
		return sayf(c, "nothing to clean: the run was measured on this machine")
	default:
		return sayf(c, "nothing to clean by the records of this machine: --hosts FILE asks the hosts of an inventory what they hold")
	}
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

// choose finds the records.
func (w *cleaning) choose(c *cli.Context, store *cluster.Store) (err error) {
	switch {
	case c.IsSet("hosts"):
		err = w.ofHosts(c, store)
	case c.String("run") != "":
		w.records, err = recordsOfRun(c, store, c.String("run"))
	default:
		w.records, err = ofKilled(c, store)
	}
	return err
}

// ofKilled finds what loads have left that do not run any more.
func ofKilled(c *cli.Context, store *cluster.Store) ([]*cluster.Record, error) {
	all, err := store.Records()
	if err != nil {
		return nil, err
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
	swept, err = found.Sweep(c.Context, cluster.SweepOptions{Dry: dry})
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

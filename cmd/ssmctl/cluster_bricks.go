package main

import (
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
	"github.com/ssmctl/ssmctl/internal/loadgen/coordinator"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

func listOnHosts(c *cli.Context) error {
	err := withCluster(c, func(found *cluster.Cluster) error {
		answers, missing := cluster.Ask[[]brickRow](c.Context, found, "brick", "list", "--json")
		if err := c.Err(); err != nil {
			return err
		}
		rows := []brickRow{}
		for i := range answers {
			rows = append(rows, rowsOf(&answers[i], found.Profile.Name)...)
		}
		return errors.Join(renderBricks(c, rows), missing)
	})
	var none *noClusterError
	if errors.As(err, &none) {
		return errors.Join(sayf(c, "%v", none), renderBricks(c, []brickRow{}))
	}
	return err
}

// rowsOf has a row for each brick of a host by the record, whether the host knows of it or not.
func rowsOf(a *cluster.Answer[[]brickRow], profile string) []brickRow {
	rows := make([]brickRow, len(a.Bricks))
	for i, b := range a.Bricks {
		row := brickRow{ID: b.ID.String(), State: brickDead, Profile: profile}
		if a.Err != nil {
			row.State = brickNoHost
		}
		if n := slices.IndexFunc(a.Value, func(r brickRow) bool { return r.ID == row.ID }); n >= 0 {
			row = a.Value[n]
		}
		row.Host, row.Addr = a.Host, b.Addr // as others reach it
		rows[i] = row
	}
	return rows
}

func stopOnHosts(c *cli.Context, ids []session.BrickID) error {
	err := withRecord(c, len(ids) > 0, func(found *cluster.Cluster) error {
		if found.Run != "" && len(ids) == 0 {
			return usagef("brick stop: these bricks are of load %s and stop with it: stop that, or ssmctl clean --run %s", found.Run, found.Run)
		}
		if len(ids) > 0 {
			ended, err := found.Stop(c.Context, ids)
			if err == nil && len(found.Bricks()) == 0 && found.Run == "" {
				err = found.End(c.Context)
			}
			return renderEnded(c, ended, err)
		}
		swept, err := found.Sweep(c.Context, cluster.SweepOptions{})
		return renderEnded(c, endedOf(swept), err)
	})
	var none *noClusterError
	if errors.As(err, &none) && len(ids) == 0 {
		return errors.Join(renderEnded(c, nil, nil), sayf(c, "ssmctl clean --hosts %s asks the hosts for what is not recorded here", none.source))
	}
	return err
}

func endedOf(swept []cluster.Swept) []cluster.Ended {
	ended := []cluster.Ended{}
	for i := range swept {
		for _, b := range swept[i].Bricks {
			ended = append(ended, cluster.Ended{Host: swept[i].Host, ID: b.ID, How: b.How})
		}
	}
	return ended
}

func restartOnHosts(c *cli.Context, id session.BrickID) error {
	return withCluster(c, func(found *cluster.Cluster) error {
		protection, err := protectionOfOthers(c, found, id)
		if err != nil {
			return err
		}
		host, started, err := found.Restart(c.Context, id, protection)
		if err != nil {
			return brickError(err)
		}
		return renderStarted(c, []startedRow{{Host: host, Started: started}})
	})
}

// protectionOfOthers returns the setting that the other bricks agree on; "" if they do not, or
// none answers.
func protectionOfOthers(c *cli.Context, found *cluster.Cluster, id session.BrickID) (string, error) {
	client, err := clientOf(found)
	if err != nil {
		return "", err
	}
	others := slices.DeleteFunc(found.Bricks(), func(b remote.Brick) bool { return b.ID == id })
	beats, _ := remote.All(c.Context, others, client.Status) // those that do not answer have no say
	beats = slices.DeleteFunc(beats, func(h wire.Heartbeat) bool { return h.Brick == 0 })
	if len(beats) == 0 {
		return "", nil
	}
	setting, err := coordinator.Agreed(beats)
	if err != nil {
		setting = ""
	}
	return setting, nil
}

func logsOnHosts(c *cli.Context, id session.BrickID) error {
	return withCluster(c, func(found *cluster.Cluster) error {
		text, err := found.Log(c.Context, id, c.Int("lines"))
		if err != nil {
			return brickError(err)
		}
		_, err = c.App.Writer.Write(text)
		return err
	})
}

func clientOf(found *cluster.Cluster) (remote.Client, error) {
	keys, err := found.Keys("ssmctl")
	if err != nil {
		return remote.Client{}, err
	}
	return remote.NewClient(keys)
}

// foundOnHosts returns the bricks of the cluster of --hosts; which of them run is seen when
// they are asked.
func foundOnHosts(c *cli.Context) (bricks []remote.Brick, client remote.Client, _ []error, err error) {
	err = withCluster(c, func(found *cluster.Cluster) (err error) {
		bricks = found.Bricks()
		client, err = clientOf(found)
		return err
	})
	return bricks, client, nil, err
}

package main

import (
	"context"
	"errors"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/watch"
)

// localWard is the bricks that this machine's state directory records.
type localWard struct{ state *fleet.State }

func (l *localWard) look(ctx context.Context) ([]watch.Sample, error) {
	records, err := l.state.Records()
	if err != nil {
		return nil, err
	}
	client, err := fleet.ClientOf(records)
	if err != nil {
		return nil, err
	}
	samples := make([]watch.Sample, len(records))
	var ask []remote.Brick
	var at []int
	for i := range records {
		alive, err := records[i].Alive()
		if err != nil {
			return nil, err
		}
		samples[i] = watch.Sample{Brick: records[i].ID, Gone: !alive}
		if alive {
			ask, at = append(ask, records[i].Brick()), append(at, i)
		}
	}
	answers, _ := remote.All(ctx, ask, client.Status) // no answer is a finding, not an error
	for k, h := range answers {
		if h.Brick != 0 {
			samples[at[k]].Heard, samples[at[k]].Stats = true, h.Stats
		}
	}
	return samples, nil
}

func (l *localWard) restart(ctx context.Context, id session.BrickID) error {
	_, err := l.state.Restart(ctx, id)
	var unknown *fleet.UnknownError
	if errors.As(err, &unknown) {
		return errors.New("it has been stopped meanwhile")
	}
	return err
}

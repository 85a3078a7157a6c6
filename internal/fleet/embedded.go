package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Cluster is bricks that run inside this process.
type Cluster struct {
	bricks []remote.Brick
	cancel context.CancelFunc
	done   sync.WaitGroup
	mu     sync.Mutex
	errs   []error
}

// Embedded starts n bricks inside this process, each on a free port of loopback.
// Zero memory is the default of a brick; the seed feeds the jitter of their processors.
func Embedded(n int, prof profile.Profile, protection protect.Setting, memory int64, seed uint64) (*Cluster, error) {
	cfgs := make([]brickd.Config, n)
	for i := range n {
		cfgs[i] = brickd.Config{
			ID: session.BrickID(i + 1), Profile: prof, Protection: protection, Memory: memory, Seed: seed + uint64(i),
		}
	}
	return newCluster(cfgs, func(int) (net.Listener, error) { return listen("127.0.0.1:0") })
}

// Foreground starts bricks inside this process where the options say, numbered from 1
// and recorded nowhere. They log to log. Beyond loopback they need keys, unless plaintext is wanted.
func Foreground(o StartOptions, log *slog.Logger) (*Cluster, error) {
	addrs, err := Addresses(o.Listen, o.Count)
	if err != nil {
		return nil, err
	}
	orders := o.orders(freeIDs(nil, o.Count), addrs)
	if err := o.handKeys(orders); err != nil {
		return nil, err
	}
	if orders[0].Keys == nil && o.exposed() {
		return nil, ErrExposed
	}
	cfgs := make([]brickd.Config, len(orders))
	for i := range orders {
		if cfgs[i], err = orders[i].config(log.With("brick", orders[i].ID.String())); err != nil {
			return nil, err
		}
	}
	return newCluster(cfgs, func(i int) (net.Listener, error) { return orders[i].listen() })
}

func newCluster(cfgs []brickd.Config, open func(i int) (net.Listener, error)) (*Cluster, error) {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Cluster{cancel: cancel}
	for i, cfg := range cfgs {
		ln, err := open(i)
		if err != nil {
			return nil, errors.Join(&StartError{ID: cfg.ID, Err: err}, c.Close())
		}
		c.bricks = append(c.bricks, remote.Brick{ID: cfg.ID, Addr: ln.Addr().String()})
		server := brickd.New(cfg)
		c.done.Go(func() {
			if err := server.Serve(ctx, ln); err != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.errs = append(c.errs, fmt.Errorf("%s: %w", cfg.ID, err))
			}
		})
	}
	return c, nil
}

// Bricks returns the bricks and where they listen.
func (c *Cluster) Bricks() []remote.Brick { return c.bricks }

// Close stops all bricks and waits for them.
func (c *Cluster) Close() error {
	c.cancel()
	c.done.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}

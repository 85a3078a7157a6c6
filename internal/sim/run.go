package sim

import (
	"context"
	"runtime"
	"sync"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
)

// job is a level on its way from the plan, through a worker, to the sink.
type job struct {
	point loadgen.Point
	done  chan outcome
}

type outcome struct {
	level result.Level
	err   error
}

// Run simulates all points of a plan, one on each core at a time, and hands them to
// sink in the plan's order. It ends with the first error of a level or of sink, and with
// that of ctx when ctx ends; levels under way are then given up.
func Run(ctx context.Context, cfg *Config, sink func(result.Level) error) error {
	points := loadgen.Points(&cfg.Plan)
	workers := min(runtime.GOMAXPROCS(0), len(points))
	jobs := make(chan job)
	// As many levels as there are workers may wait for the one before them, so that
	// memory does not grow with the plan.
	order := make(chan job, workers)

	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before the wait
	all.Add(1 + workers)
	go func() {
		defer all.Done()
		defer close(jobs)
		defer close(order)
		for _, p := range points {
			j := job{p, make(chan outcome, 1)}
			if !send(ctx, order, j) || !send(ctx, jobs, j) {
				return
			}
		}
	}()
	for range workers {
		go func() {
			defer all.Done()
			for j := range jobs {
				level, err := Level(ctx, cfg, j.point)
				j.done <- outcome{level, err}
			}
		}()
	}
	return collect(ctx, order, sink)
}

func send(ctx context.Context, to chan<- job, j job) bool {
	select {
	case to <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// collect hands the levels to sink in their order.
func collect(ctx context.Context, order <-chan job, sink func(result.Level) error) error {
	for j := range order {
		var o outcome
		select {
		case o = <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if o.err != nil {
			return o.err
		}
		if err := sink(o.level); err != nil {
			return err
		}
	}
	return ctx.Err()
}

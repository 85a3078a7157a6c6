// Package agent is the shell of the load: a process that runs machines as its
// coordinator tells it over standard input, and reports over standard output.
//
// An agent that loses its standard input ends, and its users with it.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen/message"
)

// Run serves one coordinator until in ends, which is the orderly way and returns
// nil. Whatever runs then is given up at once.
func Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &agent{out: message.NewWriter(out), orders: make(chan message.Order)}
	lost := make(chan error, 1)
	go func() {
		defer cancel()
		lost <- a.listen(ctx, in)
	}()
	err := a.serve(ctx)
	cancel()
	select {
	case lostErr := <-lost:
		return errors.Join(dropCancel(err), lostErr)
	default: // the reader is stuck in a read that only the coordinator can end
		return dropCancel(err)
	}
}

func dropCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

type agent struct {
	out    *message.Writer
	orders chan message.Order
}

// listen passes orders on until the coordinator is gone.
func (a *agent) listen(ctx context.Context, in io.Reader) error {
	for {
		var o message.Order
		if err := message.Read(in, &o); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		select {
		case a.orders <- o:
		case <-ctx.Done():
			return nil
		}
	}
}

// serve runs one level after another.
func (a *agent) serve(ctx context.Context) error {
	for {
		o, err := a.next(ctx)
		if err != nil {
			return err
		}
		if o.Level == nil {
			continue // a Stop or an Audit that crossed the end of its level
		}
		if err := a.level(ctx, *o.Level); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.Join(err, a.out.Write(message.Report{Failed: err.Error()}))
		}
	}
}

func (a *agent) next(ctx context.Context) (message.Order, error) {
	select {
	case o := <-a.orders:
		return o, nil
	case <-ctx.Done():
		return message.Order{}, ctx.Err()
	}
}

// level runs one level from the order to Done.
func (a *agent) level(ctx context.Context, spec message.Level) error {
	l, err := newLevel(spec, a.out)
	if err != nil {
		return err
	}
	defer l.close()
	if err := a.out.Write(message.Report{Ready: &message.Ready{Reachable: l.meet(ctx)}}); err != nil {
		return err
	}
	for {
		o, err := a.next(ctx)
		switch {
		case err != nil:
			return err
		case o.Stop:
			return a.end(ctx, l)
		case o.Start != nil:
			if err := a.measure(ctx, l, *o.Start); err != nil {
				return err
			}
			return a.end(ctx, l)
		default:
			return fmt.Errorf("agent: an order that does not belong between ready and start")
		}
	}
}

// measure runs the users until the level is over or stopped.
func (a *agent) measure(ctx context.Context, l *level, delay time.Duration) error {
	begin := time.NewTimer(delay)
	defer begin.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-begin.C:
	}
	l.start()
	warm := time.NewTimer(l.spec.Warmup)
	defer warm.Stop()
	over := time.NewTimer(l.length())
	defer over.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-warm.C:
			l.from = l.take()
		case <-tick.C:
			if err := l.ship(); err != nil {
				return err
			}
		case o := <-a.orders:
			if o.Stop {
				return l.halt(ctx)
			}
		case <-over.C:
			return l.halt(ctx)
		}
	}
}

// end reports the end of the load, audits when told to, and closes the level.
func (a *agent) end(ctx context.Context, l *level) error {
	if err := a.out.Write(message.Report{Ended: true}); err != nil {
		return err
	}
	for {
		o, err := a.next(ctx)
		if err != nil {
			return err
		}
		if o.Audit {
			l.audit(ctx)
			return a.out.Write(message.Report{Done: l.done()})
		}
	}
}

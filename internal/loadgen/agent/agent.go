// Package agent is the shell of the load: a process that runs machines as its
// coordinator tells it over standard input, and reports over standard output.
//
// An agent that loses its standard input ends, and its users with it.
package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ssmctl/ssmctl/internal/clock"
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
	tls    *tls.Config // nil is plaintext
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
		switch {
		case o.Keys != nil:
			a.tls, err = o.Keys.Client()
		case o.Level != nil:
			err = a.level(ctx, *o.Level)
		default: // a Stop or an Audit that crossed the end of its level
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.Join(err, a.out.Write(message.Report{Failed: err.Error()}))
		}
	}
}

// next waits for an order. A ping is answered here and is none; nor is that the coordinator is there.
func (a *agent) next(ctx context.Context) (message.Order, error) {
	for {
		select {
		case o := <-a.orders:
			if o.Here {
				continue
			}
			if o.Ping == 0 {
				return o, nil
			}
			if err := a.out.Write(message.Report{Pong: o.Ping}); err != nil {
				return message.Order{}, err
			}
		case <-ctx.Done():
			return message.Order{}, ctx.Err()
		}
	}
}

// level runs one level from the order to Done.
func (a *agent) level(ctx context.Context, spec message.Level) error {
	l, err := newLevel(spec, a.tls, a.out)
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
	heard := clock.Now()
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
			if s := l.spec.Silence; s > 0 && clock.Now()-heard > s {
				return fmt.Errorf("agent: its coordinator has said nothing for %v", s)
			}
		case o := <-a.orders:
			heard = clock.Now()
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

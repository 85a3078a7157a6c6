package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/loadgen/agent"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// plain speaks plaintext.
var plain remote.Client

// The test binary stands in for other processes: role says which one a copy of it is.
const (
	role     = "SSMCTL_TEST_ROLE"
	argument = "SSMCTL_TEST_ARGUMENT"

	roleAgent       = "agent"       // ssmctl agent
	roleCoordinator = "coordinator" // starts an agent and drives it until it is killed
	roleBrick       = "brick"       // listens at the argument until it is killed
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(role) {
	case roleAgent:
		err = agent.Run(context.Background(), os.Stdin, os.Stdout)
	case roleCoordinator:
		err = coordinate(os.Getenv(argument))
	case roleBrick:
		err = serveBrick(os.Getenv(argument))
	default:
		goleak.VerifyTestMain(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// patience bounds every wait of these tests; none takes nearly as long.
const patience = 30 * time.Second

// embedded starts n bricks that are fast and emulated, protection on.
func embedded(t *testing.T, n int) []remote.Brick {
	t.Helper()
	prof := profile.Profile{Name: "quick", Processor: profile.Processor{
		Kind: profile.Emulated, Put: 100 * time.Microsecond, Get: 100 * time.Microsecond,
	}}
	c, err := fleet.Embedded(n, prof, protect.On, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.Bricks()
}

// quick is a level of two machines whose few users ask often.
func quick(bricks []remote.Brick, warmup time.Duration, seconds int) message.Level {
	return message.Level{
		First: 5, Machines: 2, Threads: 3, Size: 100, Quorum: session.Quorum{W: 3, WQ: 2, R: 1},
		Timeout: 5 * time.Second, Policy: protect.DefaultPolicy, Seed: 1, Nonce: 1, Join: 50 * time.Millisecond,
		Users:  profile.Users{Own: 5 * time.Millisecond, OwnJitter: 0.5, Turn: 5 * time.Millisecond, Expiry: time.Minute},
		Warmup: warmup, Seconds: seconds, Bricks: bricks, Room: 20, Audit: 5 * time.Second,
	}
}

// endless is a level that only ends when it is stopped.
func endless(bricks []remote.Brick) message.Level { return quick(bricks, time.Second, 3600) }

// driver is a coordinator in the test's hands, and the agent that it drives.
type driver struct {
	t       *testing.T
	orders  *message.Writer
	in      *io.PipeWriter // the agent's standard input
	out     *io.PipeReader // its standard output
	reports chan message.Report
	heard   []message.Report // so far
	ended   chan struct{}
	result  error // once ended
}

// drive starts an agent that ends with the test.
func drive(t *testing.T) *driver {
	t.Helper()
	in, orders := io.Pipe()
	reports, out := io.Pipe()
	d := &driver{
		t: t, orders: message.NewWriter(orders), in: orders, out: reports,
		reports: make(chan message.Report, 10_000), ended: make(chan struct{}),
	}
	go func() {
		defer close(d.ended)
		d.result = agent.Run(context.Background(), in, out)
		_ = in.Close() // of a pipe, it never fails
		_ = out.Close()
	}()
	go func() {
		defer close(d.reports)
		for {
			var r message.Report
			if message.Read(reports, &r) != nil {
				return
			}
			d.reports <- r
		}
	}()
	t.Cleanup(func() {
		_ = orders.Close() // of a pipe, it never fails
		_ = d.wait()       // who cares has looked
	})
	return d
}

// wait waits for the agent's end and returns what Run did.
func (d *driver) wait() error {
	d.t.Helper()
	select {
	case <-d.ended:
		return d.result
	case <-time.After(patience):
		d.t.Fatal("the agent does not end")
		return nil
	}
}

func (d *driver) order(o message.Order) {
	d.t.Helper()
	if err := d.orders.Write(o); err != nil {
		d.t.Fatal(err)
	}
}

func (d *driver) begin() {
	d.t.Helper()
	delay := 10 * time.Millisecond
	d.order(message.Order{Start: &delay})
}

// until waits for a report that is wanted and returns all since the last that was.
func (d *driver) until(what string, wanted func(*message.Report) bool) []message.Report {
	d.t.Helper()
	timeout := time.After(patience)
	var since []message.Report
	for {
		select {
		case r, open := <-d.reports:
			if !open {
				d.t.Fatalf("the agent ended before %s: %v", what, d.wait())
			}
			since = append(since, r)
			if wanted(&r) {
				return since
			}
		case <-timeout:
			d.t.Fatalf("no %s in %+v", what, since)
		}
	}
}

func (d *driver) ready(level message.Level) int {
	d.t.Helper()
	d.order(message.Order{Level: &level})
	rs := d.until("Ready", func(r *message.Report) bool { return r.Ready != nil })
	if len(rs) > 1 {
		d.t.Errorf("before Ready came %+v", rs)
	}
	return rs[len(rs)-1].Ready.Reachable
}

func isInterval(r *message.Report) bool { return len(r.Interval) > 0 }

func isEnded(r *message.Report) bool { return r.Ended }

// finish lets the agent read back what it wrote, and returns the level's last report.
func (d *driver) finish() *message.Done {
	d.t.Helper()
	d.order(message.Order{Audit: true})
	rs := d.until("Done", func(r *message.Report) bool { return r.Done != nil })
	if len(rs) > 1 {
		d.t.Errorf("before Done came %+v", rs)
	}
	return rs[len(rs)-1].Done
}

// alone waits until the bricks have no connection but the one that asks.
func alone(t *testing.T, bricks []remote.Brick) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		answers, errs := remote.All(t.Context(), bricks, plain.Status)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		most := uint64(0)
		for _, h := range answers {
			most = max(most, h.Stats.Connected)
		}
		if most == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are left", most-1)
		}
		time.Sleep(time.Millisecond)
	}
}

package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
)

// coordinate starts bricks as told in JSON, and waits to be killed.
func coordinate(text string) error {
	var o struct {
		Store   string
		Options cluster.Options
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	ctx := context.Background()
	c, err := cluster.OpenStore(o.Store).Make(ctx, o.Options)
	if err != nil {
		return err
	}
	if _, err := c.Start(ctx, o.Options.Task); err != nil {
		return err
	}
	fmt.Println("started")
	time.Sleep(time.Hour)
	return nil
}

const ms = time.Millisecond

// Whenever the one who starts bricks is killed, a sweep by the record ends all there is. The
// instants go from before the record to after the last brick.
func TestKilled(t *testing.T) {
	l := newLab(t, 2)
	first := l.make("c0") // ships, so that the others are fast
	if _, err := first.Look(t.Context()); err == nil {
		t.Error("the stand-in has no facts")
	}
	l.end(first)
	for n, after := range []time.Duration{5 * ms, 15 * ms, 30 * ms, 60 * ms, 90 * ms, 120 * ms, 180 * ms, 300 * ms, 600 * ms} {
		o := l.options(fmt.Sprintf("c%d", n+1))
		text, err := json.Marshal(map[string]any{"Store": l.dir + "/clusters", "Options": o})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), coordinatorOf+"="+string(text))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after)
		_ = cmd.Process.Kill() // its end is what this is about
		_ = cmd.Wait()
		all, err := l.store.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			c, err := l.store.Take(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.end(c)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := l.store.Prune(); err != nil {
			t.Error(err)
		}
		l.settled()
	}
}

// settled waits for processes that were on their way to notice that nobody wants them.
func (l *lab) settled() {
	l.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); len(l.processes()) > 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	l.wantClean()
}

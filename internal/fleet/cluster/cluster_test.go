package cluster_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

// Bricks run on all hosts, numbered over all of them, and speak with members only.
func TestStart(t *testing.T) {
	l := newLab(t, 2)
	c := l.make("c1")
	defer l.end(c)
	started := l.raise(c)
	if len(started) != 2 || len(started[1]) != 2 || started[1][0].ID != "brick-3" {
		t.Fatalf("started %+v", started)
	}
	l.wantMembersOnly(c)
	dry, err := c.Sweep(t.Context(), cluster.SweepOptions{Dry: true})
	if err != nil || len(dry) != 2 || len(dry[0].Bricks) != 2 || len(l.processes()) != 4 {
		t.Errorf("dry: %+v, error %v", dry, err)
	}
}

// wantMembersOnly checks that four bricks are recorded, and answer to members.
func (l *lab) wantMembersOnly(c *cluster.Cluster) {
	t := l.t
	t.Helper()
	keys, err := c.Keys("test")
	if err != nil {
		t.Fatal(err)
	}
	client, err := remote.NewClient(keys)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.store.Of(l.dir + "/lab.yaml")
	if err != nil || r == nil || len(r.Bricks()) != 4 {
		t.Fatalf("record %+v, error %v", r, err)
	}
	for i, b := range r.Bricks() {
		if h, err := client.Status(t.Context(), b); err != nil || int(h.Brick) != i+1 {
			t.Errorf("brick %d: %+v, error %v", i+1, h, err)
		}
		if _, err := (remote.Client{}).Status(t.Context(), b); err == nil {
			t.Errorf("%s answers in plaintext", b.ID)
		}
	}
}

// When one host cannot start its bricks none are left on the others, and the error says
// which and why.
func TestStartAllOrNone(t *testing.T) {
	l := newLab(t, 3)
	l.hosts[2].Listen = "192.0.2.1" // an address that no machine has
	c := l.make("c1")
	_, err := c.Start(t.Context(), task)
	var failed *cluster.HostError
	if !errors.As(err, &failed) || failed.Host != "h3" || !strings.Contains(err.Error(), "192.0.2.1") {
		t.Errorf("error %v", err)
	}
	l.end(c)
}

// A host that is out of reach at the start leaves no record of anything.
func TestMakeUnreachable(t *testing.T) {
	l := newLab(t, 2)
	l.hosts[1].Via = "false"
	if _, err := l.store.Make(t.Context(), l.options("c1")); err == nil || !strings.Contains(err.Error(), "h2") {
		t.Errorf("error %v", err)
	}
}

// One that goes out of reach later keeps the record from being removed, and only itself from
// being swept.
func TestSweepUnreachable(t *testing.T) {
	l := newLab(t, 2)
	c := l.make("c1")
	l.raise(c)
	cut := c.Record
	cut.Hosts = append([]cluster.Host(nil), c.Hosts...)
	cut.Hosts[1].Via = "false"
	half, err := l.store.Take(&cut, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close(half)
	swept, err := half.Sweep(t.Context(), cluster.SweepOptions{})
	var failed *cluster.HostError
	if !errors.As(err, &failed) || failed.Host != "h2" || len(swept[0].Bricks) != 2 || swept[1].Err == nil {
		t.Errorf("swept %+v, error %v", swept, err)
	}
	if r, err := l.store.Of(l.dir + "/lab.yaml"); err != nil || r == nil {
		t.Errorf("record %v, error %v", r, err)
	}
	for range 2 { // to sweep again does no harm
		swept, err = c.Sweep(t.Context(), cluster.SweepOptions{})
		if err != nil || len(swept[0].Bricks) != 0 {
			t.Errorf("swept %+v, error %v", swept, err)
		}
	}
}

// One at a time from an inventory; and on a host, from whatever inventory.
func TestSecond(t *testing.T) {
	l := newLab(t, 1)
	c := l.make("c1")
	defer l.end(c)
	l.raise(c)
	var present *cluster.PresentError
	if _, err := l.store.Make(t.Context(), l.options("c2")); !errors.As(err, &present) || present.Busy == nil {
		t.Errorf("while the first is at it: %v", err)
	}
	o := l.options("c3")
	o.Source = "/another.yaml"
	other := l.makeOf(o)
	if _, err := other.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), "cluster c1 run on h1") {
		t.Errorf("on the same host: %v", err)
	}
	l.end(other)
	if n := len(l.processes()); n != 2 {
		t.Errorf("%d of the first's bricks run", n)
	}
}

// Agents are told of by their hosts, one load has a host at a time, and a sweep ends what
// does not end by itself.
func TestAgents(t *testing.T) {
	l := newLab(t, 2)
	o := l.options("c1")
	o.NoBricks = true
	c := l.makeOf(o)
	var said bytes.Buffer
	agents, err := c.StartAgents(t.Context(), &said, map[string]int{"h1": 2, "h2": 1})
	if err != nil || len(agents) != 3 || agents[2].Host != "h2" {
		t.Fatalf("%d agents, error %v", len(agents), err)
	}
	for _, a := range agents {
		if line, err := bufio.NewReader(a.Out).ReadString('\n'); line != "there\n" {
			t.Errorf("%s says %q, error %v", a.Host, line, err)
		}
	}
	o.ID, o.Source = "c2", "/another.yaml"
	l.wantRefused(o, &said)
	if !strings.HasPrefix(said.String(), "h1: ") {
		t.Errorf("said %q", said.String())
	}
	if err := cluster.CloseAgents(agents[1:]); err != nil {
		t.Error(err)
	}
	swept, err := c.Sweep(t.Context(), cluster.SweepOptions{})
	if err != nil || len(swept[0].Agents) != 1 || len(swept[1].Agents) != 0 {
		t.Errorf("swept %+v, error %v", swept, err)
	}
	_ = cluster.CloseAgents(agents[:1]) // that it was killed is known
}

// wantRefused lets another load come to a host that has one.
func (l *lab) wantRefused(o cluster.Options, said io.Writer) {
	t := l.t
	t.Helper()
	other := l.makeOf(o)
	refused, err := other.StartAgents(t.Context(), said, map[string]int{"h1": 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(refused[0].Out); err != nil {
		t.Error(err)
	}
	if err := cluster.CloseAgents(refused); err == nil || !strings.Contains(err.Error(), "cluster c1") {
		t.Errorf("the second load: %v", err)
	}
	l.end(other)
}

func TestNoRecords(t *testing.T) {
	l := newLab(t, 0)
	if all, err := l.store.Records(); len(all) > 0 || err != nil {
		t.Errorf("no directory: %v, error %v", all, err)
	}
	if _, err := l.store.Record("c1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no record: %v", err)
	}
	if err := l.store.Prune(); err != nil {
		t.Error(err)
	}
}

func TestRecords(t *testing.T) {
	l := newLab(t, 0)
	l.hosts = []inventory.Host{{Name: "h1", Address: "10.0.0.1", Via: "env", Env: map[string]string{"A": "b"}, Bricks: 1}}
	o := l.options("c1")
	o.Run = "r1"
	c, err := l.store.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := l.store.OfRun("r1"); err != nil || r == nil || r.Hosts[0].Env["A"] != "b" || r.Hosts[0].Started[0].ID != 1 || len(r.Bricks()) != 0 {
		t.Errorf("record %+v, error %v", r, err)
	}
	if r, err := l.store.Of(o.Source); r != nil || err != nil {
		t.Errorf("a load's record is taken for a cluster's: %+v, error %v", r, err)
	}
	var busy *cluster.BusyError
	if _, err := l.store.Hold("c1"); !errors.As(err, &busy) || !strings.Contains(busy.Holder, "pid") {
		t.Errorf("held twice: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	release, err := l.store.Hold("c1")
	if err != nil {
		t.Fatal(err)
	}
	release()
	var present *cluster.PresentError
	if _, err := l.store.Make(t.Context(), l.options("c2")); !errors.As(err, &present) || !strings.Contains(err.Error(), "ssmctl clean --run r1") {
		t.Errorf("what a killed load has left: %v", err)
	}
	l.end(c)
}

// What never had ssmctl put on it has nothing to clean: neither what failed nor the rest.
func TestStartNotShipped(t *testing.T) {
	l := newLab(t, 2)
	c := l.make("c1")
	cut := c.Record
	cut.Hosts = append([]cluster.Host(nil), c.Hosts...)
	cut.Hosts[1].Via = "false"
	half, err := l.store.Take(&cut, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close(half)
	if _, err := half.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), "h2: ") {
		t.Errorf("error %v", err)
	}
	if swept, err := half.Sweep(t.Context(), cluster.SweepOptions{}); err != nil || len(swept) != 2 || swept[1].Host != "h2" {
		t.Errorf("swept %+v, error %v", swept, err)
	}
}

// An interruption at any time is told as that, and not as what follows from it.
func TestStartInterrupted(t *testing.T) {
	l := newLab(t, 2)
	c := l.make("c1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Start(ctx, task); err == nil || err.Error() != context.Canceled.Error() {
		t.Errorf("error %v", err)
	}
	l.end(c)
}

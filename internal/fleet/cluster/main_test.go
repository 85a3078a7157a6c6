package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/profile"
)

// coordinatorOf makes the test binary start bricks and wait to be killed; see TestKilled.
const coordinatorOf = "SSMCTL_TEST_COORDINATOR"

// The test binary stands in for ssmctl: it is shipped to the hosts, which are directories
// here, and runs under that name.
func TestMain(m *testing.M) {
	var err error
	switch {
	case filepath.Base(os.Args[0]) == "ssmctl":
		err = ssmctl(os.Args[1:])
	case os.Getenv(coordinatorOf) != "":
		err = coordinate(os.Getenv(coordinatorOf))
	default:
		// Under the race detector every process else takes a second to end.
		if err = os.Setenv("GORACE", "atexit_sleep_ms=0"); err == nil {
			goleak.VerifyTestMain(m)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4) //nolint:forbidigo // it is main here
	}
}

// ssmctl is as much of it as runs on a host.
func ssmctl(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	at := func(name string) string { return args[slices.Index(args, name)+1] }
	if args[0] == "brick" && args[1] == "serve" {
		return fleet.ServeDaemon(ctx, os.Stderr)
	}
	place := fleet.Place{Cluster: at("--cluster"), Host: at("--host")}
	switch {
	case args[0] == "sweep":
		swept, err := place.Sweep(ctx, slices.Contains(args, "--dry-run"))
		return errors.Join(err, json.NewEncoder(os.Stdout).Encode(swept))
	case args[1] == "start":
		return place.Perform(ctx, os.Stdin, os.Stdout, nil)
	case args[0] == "agent":
		leave, err := place.Enlist(slices.Contains(args, "--reserve"))
		if err != nil {
			return err
		}
		defer leave()
		fmt.Println("there")
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	return fmt.Errorf("unknown: %q", args)
}

// lab is hosts that are directories.
type lab struct {
	t     *testing.T
	dir   string
	store *cluster.Store
	hosts []inventory.Host
}

// newLab has so many hosts with two bricks each. Nothing may be left on any of them, nor
// here, when the test ends.
func newLab(t *testing.T, hosts int) *lab {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the hosts need a shell:", err)
	}
	l := &lab{t: t, dir: t.TempDir()}
	l.store = cluster.OpenStore(filepath.Join(l.dir, "clusters"))
	for i := range hosts {
		name := fmt.Sprintf("h%d", i+1)
		l.hosts = append(l.hosts, inventory.Host{
			Name: name, Address: "127.0.0.1", Listen: "127.0.0.1", Bricks: 2, Load: true,
			Via: fmt.Sprintf("env HOST=%[1]s XDG_STATE_HOME=%[2]s/%[1]s XDG_CACHE_HOME=%[2]s/cache", name, l.dir),
		})
	}
	t.Cleanup(l.wantClean)
	return l
}

func (l *lab) state(host string) string { return filepath.Join(l.dir, host, "ssmctl") }

// wantClean checks that neither files nor processes are left of any cluster.
func (l *lab) wantClean() {
	l.t.Helper()
	gone := []string{filepath.Join(l.dir, "clusters")}
	for _, h := range l.hosts {
		gone = append(gone, l.state(h.Name))
	}
	for _, path := range gone {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			l.t.Errorf("%s: %v, want it to be gone", path, err)
		}
	}
	if lines := l.processes(); len(lines) > 0 {
		l.t.Errorf("left running: %q", lines)
	}
}

// processes lists what runs from within the lab.
func (l *lab) processes() (lines []string) {
	text, err := exec.Command("ps", "-A", "-ww", "-o", "pid=,stat=,args=").Output()
	if err != nil {
		l.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, l.dir) && !strings.Contains(line, "ps -A") {
			lines = append(lines, line)
		}
	}
	return lines
}

var task = fleet.Task{Profile: mustProfile(), Protection: "on"}

func mustProfile() profile.Profile {
	p, err := profile.ByName(profile.Native)
	if err != nil {
		panic(err) // it is compiled in
	}
	return p
}

func (l *lab) options(id string) cluster.Options {
	return cluster.Options{ID: id, Source: l.dir + "/lab.yaml", Hosts: l.hosts, Task: task}
}

// make makes a cluster that is closed at the end of the test, but not ended.
func (l *lab) make(id string) *cluster.Cluster {
	l.t.Helper()
	return l.makeOf(l.options(id))
}

func (l *lab) makeOf(o cluster.Options) *cluster.Cluster {
	l.t.Helper()
	c, err := l.store.Make(l.t.Context(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { l.close(c) })
	return c
}

func (l *lab) close(c *cluster.Cluster) {
	if err := c.Close(); err != nil {
		l.t.Error(err)
	}
}

// raise starts the bricks.
func (l *lab) raise(c *cluster.Cluster) [][]fleet.Started {
	l.t.Helper()
	started, err := c.Start(l.t.Context(), task)
	if err != nil {
		l.t.Fatal(err)
	}
	return started
}

func (l *lab) end(c *cluster.Cluster) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.End(ctx); err != nil {
		l.t.Error(err)
	}
}

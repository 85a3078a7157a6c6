package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/session"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ssmctl": main})
}

// TestScripts runs testdata/script. Each script has a home and a state directory of
// its own; whatever bricks it leaves are stopped, also if it fails.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setupScript,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"crash":    crashBrick,
			"freeze":   freezeBrick,
			"takeport": takePort,
			"await":    awaitText,
			"goneall":  goneAll,
			"onlydir":  onlyDir,
			"agents":   agentPIDs,
		},
	})
}

func setupScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	env.Setenv("HOME", home)
	env.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	env.Setenv("BRICKS", stateDir(env.Getenv("XDG_STATE_HOME")))
	// Under the race detector every process else takes a second to end.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	env.Defer(func() {
		dirs := []string{stateDir(filepath.Join(home, "state"))}
		// Hosts of a script are directories: see testdata/script/cluster_life.txtar.
		places, err := filepath.Glob(filepath.Join(env.WorkDir, "*", "state", "ssmctl", "hosts", "*", "*"))
		if err != nil {
			panic(err)
		}
		for _, dir := range append(dirs, places...) {
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				continue
			}
			if _, err := fleet.OpenState(dir, nil).Stop(context.Background()); err != nil {
				panic(err) // bricks are left running: nothing that follows is to be believed
			}
		}
	})
	return nil
}

func stateDir(stateHome string) string { return filepath.Join(stateHome, "ssmctl", "bricks") }

func recordOf(ts *testscript.TestScript, name string) fleet.Record {
	id, err := session.ParseBrickID(name)
	ts.Check(err)
	r, err := fleet.OpenState(ts.Getenv("BRICKS"), nil).Record(id)
	ts.Check(err)
	return r
}

// crashBrick is "crash ID": the brick is killed from outside, and gone afterwards.
func crashBrick(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: crash ID")
	}
	r := recordOf(ts, args[0])
	ts.Check(r.Signal(syscall.SIGKILL))
	poll(ts, func() bool {
		alive, err := r.Alive()
		ts.Check(err)
		return !alive
	})
}

// freezeBrick is "freeze ID": the brick's process stands still until it is killed.
func freezeBrick(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeze ID")
	}
	r := recordOf(ts, args[0])
	ts.Check(r.Signal(syscall.SIGSTOP))
}

// takePort is "takeport NAME": until the script ends, something else listens on the
// port of loopback that $NAME is set to.
func takePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: takeport NAME")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = ln.Close() })
	_, port, err := net.SplitHostPort(ln.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}

// awaitText is "await FILE TEXT": it waits until the file, which a command in the
// background writes, holds the text.
func awaitText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE TEXT")
	}
	poll(ts, func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && bytes.Contains(text, []byte(args[1]))
	})
}

// goneAll is "goneall FILE": it waits until no process of those whose pids are in the
// file is left.
func goneAll(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: goneall FILE")
	}
	pids := strings.Fields(ts.ReadFile(args[0]))
	if len(pids) == 0 {
		ts.Fatalf("no pid in %s", args[0])
	}
	poll(ts, func() bool {
		return !slices.ContainsFunc(pids, func(pid string) bool {
			n, err := strconv.Atoi(pid)
			ts.Check(err)
			return syscall.Kill(n, 0) == nil
		})
	})
}

// onlyDir is "onlydir NAME DIR": it sets $NAME to the one directory within another.
func onlyDir(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: onlydir NAME DIR")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[1]))
	ts.Check(err)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() })
	if len(entries) != 1 {
		ts.Fatalf("%d directories in %s", len(entries), args[1])
	}
	ts.Setenv(args[0], filepath.Join(ts.MkAbs(args[1]), entries[0].Name()))
}

// agentPIDs is "agents DIR FILE": it writes the pids of the agents that are recorded below a
// directory into a file, once there are some.
func agentPIDs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: agents DIR FILE")
	}
	var pids []string
	poll(ts, func() bool {
		paths, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*", "agent-*.json"))
		ts.Check(err)
		for _, path := range paths {
			pid := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".json")
			pids = append(pids, pid)
		}
		return len(pids) > 0
	})
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.Join(pids, "\n")+"\n"), 0o600))
}

// poll waits for what must come; what does not is a hang that fails the script.
func poll(ts *testscript.TestScript, done func() bool) {
	const patience = time.Minute
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	hung := time.After(patience)
	for !done() {
		select {
		case <-look.C:
		case <-hung:
			ts.Fatalf("it did not come within %v", patience)
		}
	}
}

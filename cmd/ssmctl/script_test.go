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
		state := fleet.OpenState(stateDir(filepath.Join(home, "state")), nil)
		if _, err := state.Stop(context.Background()); err != nil {
			panic(err) // bricks are left running: nothing that follows is to be believed
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

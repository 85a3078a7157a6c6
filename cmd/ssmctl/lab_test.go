package main

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ssmctl/ssmctl/internal/fleet/labtest"
)

// labHosts are four for bricks and six for load.
const labHosts = 10

// TestLab runs testdata/lab, one script after the other, on hosts that are reached by ssh.
// A script finds the inventory in $LAB, and in $H1 to $H10 the names of the hosts.
func TestLab(t *testing.T) {
	if why := labtest.Missing(); why != "" {
		t.Skip(why)
	}
	t.Parallel() // it waits more than it works
	lab, err := labtest.Up(labHosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Down(); err != nil {
			t.Error(err)
		}
	})
	scripts, err := filepath.Glob("testdata/lab/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range scripts {
		t.Run("", func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Files:               []string{script},
				RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("LAB", lab.Inventory())
					for i, h := range lab.Hosts {
						env.Setenv("H"+strconv.Itoa(i+1), h.Name)
					}
					return setupScript(env)
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"await": awaitText,
					"host":  func(ts *testscript.TestScript, _ bool, args []string) { labHost(ts, lab, args) },
					"clean": func(ts *testscript.TestScript, _ bool, _ []string) { labClean(ts, lab) },
				},
			})
		})
	}
}

// labHost is "host N WHAT": "cut" and "heal" are about its link, "kill" ends all that runs
// there but what waits for connections, and "idle" waits until nothing runs there.
func labHost(ts *testscript.TestScript, lab *labtest.Lab, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: host N cut|heal|kill|idle")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	name := lab.Hosts[n-1].Name
	switch args[1] {
	case "cut":
		ts.Check(ts.Exec("ip", "-n", name, "link", "set", "eth0", "down"))
	case "heal":
		ts.Check(ts.Exec("ip", "-n", name, "link", "set", "eth0", "up"))
		poll(ts, func() bool { // the switch has to learn where it is
			conn, err := net.DialTimeout("tcp", net.JoinHostPort(lab.Hosts[n-1].Address, "22"), time.Second)
			if err == nil {
				_ = conn.Close() // nothing was said
			}
			return err == nil
		})
	case "kill":
		for _, pid := range labPids(ts, name) {
			p, err := os.FindProcess(pid)
			ts.Check(err)
			_ = p.Kill() // it may have ended with another
		}
	case "idle":
		poll(ts, func() bool { return len(labPids(ts, name)) == 0 })
	default:
		ts.Fatalf("host %s %s?", args[0], args[1])
	}
}

// labClean checks that neither a process nor a file is left on any host, nor a record here.
func labClean(ts *testscript.TestScript, lab *labtest.Lab) {
	for i, h := range lab.Hosts {
		poll(ts, func() bool { return len(labPids(ts, h.Name)) == 0 })
		if _, err := os.Lstat(filepath.Join(lab.Home(i), ".local", "state", "ssmctl")); !errors.Is(err, fs.ErrNotExist) {
			ts.Fatalf("%s has state: %v", h.Name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "ssmctl")); !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("there is state here: %v", err)
	}
}

// labPids returns what runs on a host, its sshd and those of connections left out.
func labPids(ts *testscript.TestScript, name string) (pids []int) {
	out, err := exec.Command("ip", "netns", "pids", name).Output()
	ts.Check(err)
	for _, word := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(word)
		ts.Check(err)
		comm, err := os.ReadFile("/proc/" + word + "/comm")
		if err == nil && !strings.HasPrefix(string(comm), "sshd") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Package labtest gives tests a lab of hosts: network namespaces of this machine with an
// sshd each, as scripts/lab makes them.
//
// It is for tests only; nothing of the product imports it.
package labtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

// The networks that tests choose from. Packages are tested at the same time, each with a
// lab of its own; 0 is left to people.
const firstNet, lastNet = 201, 250

// settleWithin is how long the sshd of a host may take to read its configuration again.
const settleWithin = 5 * time.Second

// Lab is a lab that is up.
type Lab struct {
	Dir   string // of lab.yaml, ssh_config, known_hosts and key
	Hosts []inventory.Host

	env  []string
	lock net.Listener
}

// Missing says why this machine can have no lab, "" if it can.
func Missing() string {
	if runtime.GOOS != "linux" {
		return "a lab takes network namespaces of Linux"
	}
	if os.Geteuid() != 0 {
		return "a lab takes root"
	}
	for _, program := range []string{"ip", "ssh", "ssh-keygen", "unshare", "/usr/sbin/sshd"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed: apt-get install iproute2 openssh-client openssh-server"
		}
	}
	if out, err := exec.Command("unshare", "--net", "--mount", "true").CombinedOutput(); err != nil {
		return "this machine makes no namespaces: " + string(out)
	}
	return ""
}

// Up makes a lab of some hosts for one package of tests. Down has to follow.
func Up(hosts int) (*Lab, error) {
	number, lock, err := freeNet()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lab-*")
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l := &Lab{Dir: dir, lock: lock}
	l.env = append(os.Environ(), "LAB_DIR="+dir, "LAB_NET="+strconv.Itoa(number))
	// What a test that was killed has left in this network goes first.
	for _, args := range [][]string{{"down"}, {"up", strconv.Itoa(hosts)}} {
		if _, err := l.script(args...); err != nil {
			return nil, errors.Join(err, l.Down())
		}
	}
	text, err := os.ReadFile(l.Inventory())
	if err != nil {
		return nil, errors.Join(err, l.Down())
	}
	inv, err := inventory.Parse(l.Inventory(), text)
	if err != nil {
		return nil, errors.Join(err, l.Down())
	}
	l.Hosts = inv.Hosts
	return l, nil
}

// freeNet takes a network that no other tests have. The lock is a name that goes with its
// process, and leaves no file.
func freeNet() (number int, lock net.Listener, err error) {
	for number := firstNet; number <= lastNet; number++ {
		lock, err = net.Listen("unix", fmt.Sprintf("@ssmctl-lab-%d", number))
		if err == nil {
			return number, lock, nil
		}
	}
	return 0, nil, fmt.Errorf("no network is free for a lab: %w", err)
}

// Remove removes the lab with all that runs there. Its network stays this process's own.
func (l *Lab) Remove() error {
	_, err := l.script("down")
	return errors.Join(err, os.RemoveAll(l.Dir))
}

// Down removes the lab, and leaves its network to others. It is called once.
func (l *Lab) Down() error { return errors.Join(l.Remove(), l.lock.Close()) }

// Inventory is the file that --hosts takes.
func (l *Lab) Inventory() string { return filepath.Join(l.Dir, "lab.yaml") }

// script runs scripts/lab of the source that this package was compiled from.
func (l *Lab) script(args ...string) (string, error) {
	root, err := module()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(filepath.Join(root, "scripts", "lab"), args...)
	cmd.Env = l.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("scripts/lab %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// module is the directory above this one that holds go.mod: tests run in that of their package.
func module() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above this directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// file is one of a host's, in its directory of the lab. Hosts count from 0.
func (l *Lab) file(host int, name string) string {
	return filepath.Join(l.Dir, "hosts", strconv.Itoa(host+1), name)
}

// Home is the home directory of a host's root, as seen from outside.
func (l *Lab) Home(host int) string { return l.file(host, "root") }

// Temp is a host's /tmp, as seen from outside.
func (l *Lab) Temp(host int) string { return l.file(host, "tmp") }

// Log is what a host's sshd has logged.
func (l *Lab) Log(t testing.TB, host int) string {
	t.Helper()
	text, err := os.ReadFile(l.file(host, "sshd.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Configure puts lines before the configuration of a host's sshd until the test ends.
func (l *Lab) Configure(t testing.TB, host int, lines string) {
	t.Helper()
	l.configure(t, host, lines)
	t.Cleanup(func() { l.configure(t, host, "") })
}

func (l *Lab) configure(t testing.TB, host int, lines string) {
	t.Helper()
	if err := os.WriteFile(l.file(host, "sshd_extra"), []byte(lines+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The sshd reads it anew by starting again in the same process: it has a new time of birth
	// nowhere, but says when it listens.
	before := strings.Count(l.Log(t, host), "Server listening on")
	pid, err := strconv.Atoi(l.read(t, host, "sshd.pid"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	Await(t, "sshd to listen again", func() bool {
		return strings.Count(l.Log(t, host), "Server listening on") >= before+2 // IPv4 and IPv6
	})
}

func (l *Lab) read(t testing.TB, host int, name string) string {
	t.Helper()
	text, err := os.ReadFile(l.file(host, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Processes returns the pids of what runs on a host, its sshd and those of sessions left out.
func (l *Lab) Processes(t testing.TB, host int) []int {
	t.Helper()
	out, err := exec.Command("ip", "netns", "pids", l.Hosts[host].Name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, word := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && string(bytes.TrimSpace(name)) != "sshd" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Await polls for what another process is about to do.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(settleWithin); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

package reach_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/fleet/labtest"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// hosts returns copies of the lab's, for a test to change.
func hosts(t *testing.T) []inventory.Host {
	t.Helper()
	if lab == nil {
		t.Skip(labtest.Missing())
	}
	return slices.Clone(lab.Hosts)
}

func open(t *testing.T, hosts ...inventory.Host) *reach.Way {
	t.Helper()
	w, err := reach.Open(hosts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// awkward is what has to arrive as it was sent, through any shell on the way.
var awkward = []string{"a b", "", "it's", `"$HOME" \ ` + "`id`", "two\nlines", "*", "-n", "ü;&|<>"}

// ways are those that are tested on all of the lab's hosts.
var ways = map[string]string{
	"ssh":            "", // the lab's own
	"ip netns exec":  "ip netns exec {name}",
	"ssh in another": "env ssh -F '{dir}/ssh_config' -o BatchMode=yes {host}",
}

func TestRun(t *testing.T) {
	for name, via := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hosts(t)[anyHost]
			if via != "" {
				h.Via = strings.ReplaceAll(via, "{dir}", lab.Dir)
			}
			w := open(t, h)
			out, err := w.Host(h.Name).Run(t.Context(), nil, append([]string{"printf", `%s\0`}, awkward...)...)
			if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, awkward) {
				t.Errorf("%v: %q", err, got)
			}
			out, err = w.Host(h.Name).Run(t.Context(), strings.NewReader("hello"), "sh", "-c", "cat; ip -o addr show eth0")
			if err != nil || !strings.HasPrefix(string(out), "hello") || !strings.Contains(string(out), h.Address) {
				t.Errorf("%v: %q", err, out)
			}
			checkFailure(t, w.Host(h.Name))
		})
	}
}

// checkFailure wants the exit code, the last words, and a line that does the same again.
func checkFailure(t *testing.T, h *reach.Host) {
	t.Helper()
	_, err := h.Run(t.Context(), nil, "sh", "-c", "echo 'oh no' >&2; exit 7")
	var failed *reach.CommandError
	if !errors.As(err, &failed) || failed.Exit != 7 || failed.Stderr != "oh no" || failed.Host != h.Name || failed.Unreached() {
		t.Fatalf("got %+v", err)
	}
	again := exec.Command("sh", "-c", failed.Line)
	var said bytes.Buffer
	again.Stderr = &said
	if err := again.Run(); again.ProcessState.ExitCode() != 7 || said.String() != "oh no\n" {
		t.Errorf("%s: %v: %s", failed.Line, err, &said)
	}
}

// TestManySessions: more at a time on one host than its sshd takes over one connection.
func TestManySessions(t *testing.T) {
	t.Parallel()
	h := hosts(t)[countedHost]
	before := strings.Count(lab.Log(t, countedHost), "Accepted publickey")
	w := open(t, h)
	var all sync.WaitGroup
	var said safeBuffer
	for range 20 {
		all.Go(func() {
			p, err := w.Host(h.Name).Start(t.Context(), &said, "cat")
			if err != nil {
				t.Error(err)
				return
			}
			echo := make([]byte, 5)
			if _, err := p.In.Write([]byte("hello")); err != nil {
				t.Error(err)
			}
			if _, err := p.Out.Read(echo); err != nil || string(echo) != "hello" {
				t.Errorf("%v: %q", err, echo)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := said.String(); got != "" {
		t.Errorf("ssh said: %s", got)
	}
	if got := strings.Count(lab.Log(t, countedHost), "Accepted publickey") - before; got < 1 || got > 3 {
		t.Errorf("%d connections, wanted one for every 8 sessions at most", got)
	}
}

// TestEnd: the end of standard input is the end, and whoever does not obey is cut off.
func TestEnd(t *testing.T) {
	t.Parallel()
	h := hosts(t)[anyHost]
	w := open(t, h)
	p, err := w.Host(h.Name).Start(t.Context(), nil, "sh", "-c", "cat; echo bye >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	var failed *reach.CommandError
	if err := p.Close(); !errors.As(err, &failed) || failed.Exit != 3 || failed.Stderr != "bye" {
		t.Errorf("got %v", err)
	}
	p, err = w.Host(h.Name).Start(t.Context(), nil, "sh", "-c", "echo $$ >/tmp/stubborn; exec sleep 60")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); !errors.As(err, &failed) || !strings.Contains(failed.Error(), "did not end") {
		t.Errorf("got %v", err)
	}
	if _, err := w.Host(h.Name).Run(t.Context(), nil, "sh", "-c", "kill $(cat /tmp/stubborn)"); err != nil {
		t.Error(err)
	}
}

// TestNothingLeft: Close ends the connections, and the next run those of a killed one.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	h := hosts(t)[anyHost]
	w, err := reach.Open([]inventory.Host{h})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	mine := "ControlPath=" + w.Sockets()
	if masters(t, mine) == 0 {
		t.Fatal("there is no connection whose end could be seen")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	labtest.Await(t, "the end of the connections", func() bool { return masters(t, mine) == 0 })
	if _, err := os.Stat(w.Sockets()); !os.IsNotExist(err) {
		t.Errorf("the sockets are left: %v", err)
	}
	if _, err := w.Host(h.Name).Run(t.Context(), nil, "true"); err == nil {
		t.Error("it still runs programs")
	}
}

func TestKilled(t *testing.T) {
	hosts(t)
	t.Setenv("TMPDIR", shortTemp(t))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), modeHang+"="+lab.Inventory())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 64)
	n, err := out.Read(said)
	if got := string(said[:n]); err != nil || got != "reached: <nil>\n" {
		t.Errorf("%v: %s", err, got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	left := "ControlPath=" + os.TempDir()
	if masters(t, left) != len(lab.Hosts) {
		t.Fatalf("%d connections of the killed one, wanted one for each host", masters(t, left))
	}
	w := open(t, lab.Hosts...)
	labtest.Await(t, "the end of what was left", func() bool { return masters(t, left) == 0 })
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	if err != nil || !slices.Equal(dirs, []string{w.Sockets()}) {
		t.Errorf("%v: %q is left beside %s", err, dirs, w.Sockets())
	}
}

// masters counts the processes that have this in their arguments.
func masters(t *testing.T, argument string) (n int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		// The background ssh sets its title to the path of its socket.
		text, _ := os.ReadFile(path) // it may have ended
		if bytes.Contains(text, []byte(argument)) || bytes.Contains(text, []byte(strings.TrimPrefix(argument, "ControlPath="))) {
			n++
		}
	}
	return n
}

// shortTemp is a directory whose path leaves room for the name of a socket.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "r*") //nolint:usetesting // the path of t.TempDir is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	h := hosts(t)[anyHost]
	w := open(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	runs := filepath.Join(lab.Temp(anyHost), "runs")
	if err := os.Remove(runs); err != nil && !os.IsNotExist(err) { // of the same test before
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := w.Host(h.Name).Run(ctx, nil, "sh", "-c", "echo $$ >/tmp/runs; exec sleep 60")
		ended <- err
	}()
	labtest.Await(t, "the program to run", func() bool { pid, _ := os.ReadFile(runs); return len(pid) > 0 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Host(h.Name).Run(t.Context(), nil, "sh", "-c", "kill $(cat /tmp/runs)"); err != nil {
		t.Error(err)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
)

var oneBrick = fleet.StartOptions{Count: 1, Listen: "127.0.0.1:0", Profile: native(), Protection: protect.On}

func bricks(n int) fleet.StartOptions {
	o := oneBrick
	o.Count = n
	return o
}

func native() profile.Profile {
	p, err := profile.ByName(profile.Native)
	if err != nil {
		panic(err) // it is compiled in
	}
	return p
}

// newState returns a state directory that does not exist yet. Whatever a test
// leaves running there is ended, and a process that is not recorded fails the test.
func newState(t *testing.T) (s *fleet.State, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "bricks")
	s = fleet.OpenState(dir, func(notice string) { t.Log(notice) })
	t.Cleanup(func() {
		if _, err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		for _, pid := range processesOf(t, dir) {
			t.Errorf("pid %d was left running", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL) // a copy of this test in its own directory
		}
	})
	return s, dir
}

// processesOf returns the pids of processes that run from a copy in dir.
func processesOf(t *testing.T, dir string) []int {
	t.Helper()
	text, err := exec.Command("ps", "-A", "-ww", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for line := range strings.Lines(string(text)) {
		var pid int
		var program string
		if _, err := fmt.Sscan(line, &pid, &program); err == nil && strings.HasPrefix(program, dir+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func start(t *testing.T, s *fleet.State, o fleet.StartOptions) []fleet.Record {
	t.Helper()
	records, err := s.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// crash ends a brick as no command of ssmctl would, and waits until it is gone.
func crash(t *testing.T, r *fleet.Record) {
	t.Helper()
	if err := r.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for alive(t, r) {
		<-look.C
	}
}

func alive(t *testing.T, r *fleet.Record) bool {
	t.Helper()
	ok, err := r.Alive()
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func mustAnswer(t *testing.T, r *fleet.Record, want protect.Setting) {
	t.Helper()
	h, err := plain.Status(t.Context(), r.Brick())
	if err != nil {
		t.Fatal(err)
	}
	if h.Setting != want {
		t.Errorf("%s has protection %s, want %s", r.ID, h.Setting, want)
	}
}

func mustBeEmpty(t *testing.T, s *fleet.State, dir string) {
	t.Helper()
	records, err := s.Records()
	if err != nil || len(records) > 0 {
		t.Errorf("records %v, error %v, want none", records, err)
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "brick-*"))
	if err != nil || len(logs) > 0 {
		t.Errorf("files %v, error %v, want none", logs, err)
	}
}

func TestStartAndStop(t *testing.T) {
	s, dir := newState(t)
	records := start(t, s, bricks(2))
	for i := range records {
		mustAnswer(t, &records[i], protect.On)
		if err := records[i].Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		mustAnswer(t, &records[i], protect.On)
	}
	roster, err := s.Running()
	if err != nil || len(roster.Bricks) != 2 || roster.Profile.Name != profile.Native {
		t.Errorf("roster %+v, error %v", roster, err)
	}
	ended, err := s.Stop(t.Context())
	if err != nil || len(ended) != 2 || ended[0].How != fleet.Stopped || ended[1].How != fleet.Stopped {
		t.Errorf("ended %+v, error %v", ended, err)
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestFiles(t *testing.T) {
	s, dir := newState(t)
	r := start(t, s, oneBrick)[0]
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "brick-1.json"): 0o600, r.Log: 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
	if _, err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lines, err := s.LogLines(1, 1); err != nil || len(lines) != 1 || !strings.Contains(lines[0], "stopped") {
		t.Errorf("log of the stopped brick: %q, error %v", lines, err)
	}
	if copies, err := filepath.Glob(filepath.Join(dir, "bin", "*")); err != nil || len(copies) > 0 {
		t.Errorf("copies %v are left, error %v", copies, err)
	}
}

// A brick that is stopped by SIGSTOP cannot react to SIGTERM.
func TestStopKillsTheStubborn(t *testing.T) {
	s, _ := newState(t)
	r := start(t, s, oneBrick)[0]
	if err := r.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ended, err := s.Stop(t.Context(), 1)
	if err != nil || len(ended) != 1 || ended[0].How != fleet.Killed {
		t.Errorf("ended %+v, error %v", ended, err)
	}
	if alive(t, &r) {
		t.Error("it still runs")
	}
}

func TestStartAtOnce(t *testing.T) {
	s, dir := newState(t)
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = fleet.OpenState(dir, nil).Start(t.Context(), oneBrick) })
	}
	all.Wait()
	started := 0
	for _, err := range errs {
		var running *fleet.RunningError
		if err == nil {
			started++
		} else if !errors.As(err, &running) || len(running.IDs) != 1 {
			t.Errorf("error %v, want a *RunningError", err)
		}
	}
	if started != 1 {
		t.Errorf("%d starts of one brick, want 1", started)
	}
	if records, err := s.Records(); err != nil || len(records) != 1 {
		t.Errorf("records %v, error %v", records, err)
	}
}

func TestAddTakesTheLowestFreeIDs(t *testing.T) {
	s, _ := newState(t)
	start(t, s, bricks(3))
	if _, err := s.Stop(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	more := bricks(2)
	more.Add = true
	if added := start(t, s, more); added[0].ID != 2 || added[1].ID != 4 {
		t.Errorf("ids %s and %s, want brick-2 and brick-4", added[0].ID, added[1].ID)
	}
	var unknown *fleet.UnknownError
	if _, err := s.Stop(t.Context(), 1, 7); !errors.As(err, &unknown) || len(unknown.Known) != 4 {
		t.Errorf("error %v, want an *UnknownError with 4 ids", err)
	}
	if records, err := s.Records(); err != nil || len(records) != 4 {
		t.Errorf("%d records, error %v: an unknown id stopped others", len(records), err)
	}
}

func TestPortTaken(t *testing.T) {
	s, dir := newState(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	o := bricks(2)
	o.Listen = taken.Addr().String()
	_, err = s.Start(t.Context(), o)
	var failed *fleet.StartError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), o.Listen) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("error %v, want a *StartError that names %s", err, o.Listen)
	}
	mustBeEmpty(t, s, dir)
	if _, err := fleet.Foreground(o, discard); !errors.As(err, &failed) {
		t.Errorf("in the foreground: error %v, want a *StartError", err)
	}
}

func TestNotReady(t *testing.T) {
	s, dir := newState(t)
	t.Setenv(childMode, modeEnd)
	_, err := s.Start(t.Context(), bricks(2))
	var failed *fleet.StartError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "the brick's last words") {
		t.Errorf("error %v, want a *StartError with the end of the log", err)
	}
	mustBeEmpty(t, s, dir)

	t.Setenv(childMode, modeHang)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := s.Start(ctx, bricks(2)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	mustBeEmpty(t, s, dir)
}

package fleet_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/protect"
)

func TestRestartAfterCrash(t *testing.T) {
	s, _ := newState(t)
	records := start(t, s, bricks(3))
	for _, r := range records[1:] {
		if _, err := plain.Protect(t.Context(), r.Brick(), protect.WindowOnly); err != nil {
			t.Fatal(err)
		}
	}
	crash(t, &records[0])
	roster, err := s.Running()
	if err != nil || len(roster.Bricks) != 2 || len(roster.Dead) != 1 {
		t.Fatalf("roster %+v, error %v", roster, err)
	}
	again, err := s.Restart(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if again.Addr != records[0].Addr || again.PID == records[0].PID || again.BinarySHA256 != records[0].BinarySHA256 {
		t.Errorf("restarted as %+v, was %+v", again, records[0])
	}
	mustAnswer(t, &again, protect.WindowOnly)

	// The others disagree: it is what it was started with.
	if _, err := plain.Protect(t.Context(), records[1].Brick(), protect.Off); err != nil {
		t.Fatal(err)
	}
	if again, err = s.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	mustAnswer(t, &again, protect.WindowOnly)
}

// A brick that cannot come up again keeps its record.
func TestRestartFails(t *testing.T) {
	s, _ := newState(t)
	before := start(t, s, oneBrick)[0]
	t.Setenv(childMode, modeEnd)
	var failed *fleet.StartError
	if _, err := s.Restart(t.Context(), 1); !errors.As(err, &failed) {
		t.Errorf("error %v, want a *StartError", err)
	}
	t.Setenv(childMode, "")
	if after, err := s.Record(1); err != nil || after.PID != before.PID {
		t.Errorf("record %+v, error %v", after, err)
	}
	again, err := s.Restart(t.Context(), 1)
	if err != nil || again.Addr != before.Addr {
		t.Errorf("restarted at %s, error %v, want %s", again.Addr, err, before.Addr)
	}
}

func TestStartSweepsTheDead(t *testing.T) {
	_, dir := newState(t)
	var notices []string
	s := fleet.OpenState(dir, func(n string) { notices = append(notices, n) })
	r := start(t, s, oneBrick)[0]
	crash(t, &r)
	again := start(t, s, oneBrick)[0]
	if again.ID != 1 || len(notices) != 1 || !strings.Contains(notices[0], "brick-1") {
		t.Errorf("started %s, notices %q", again.ID, notices)
	}
}

// A pid passes to a process that has nothing to do with bricks: it must survive
// every command.
func TestRecycledPID(t *testing.T) {
	s, dir := newState(t)
	records := start(t, s, bricks(3))
	innocent := exec.Command("sleep", "1000")
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = innocent.Process.Kill()
		_ = innocent.Wait()
	})
	for i := range records {
		crash(t, &records[i])
		edit(t, filepath.Join(dir, records[i].ID.String()+".json"), "pid", innocent.Process.Pid)
	}
	recycled, err := s.Record(1)
	if err != nil {
		t.Fatal(err)
	}
	if alive(t, &recycled) {
		t.Error("another process passes for the brick")
	}
	if err := recycled.Signal(syscall.SIGKILL); !errors.Is(err, fleet.ErrGone) {
		t.Errorf("error %v, want ErrGone", err)
	}
	if ended, err := s.Stop(t.Context(), 1); err != nil || len(ended) != 1 || ended[0].How != fleet.WasGone {
		t.Errorf("ended %+v, error %v", ended, err)
	}
	if again, err := s.Restart(t.Context(), 2); err != nil || again.Addr != records[1].Addr {
		t.Errorf("restarted at %s, error %v", again.Addr, err)
	}
	if err := innocent.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the innocent process: %v", err)
	}
}

// Every fact counts on its own: a live brick is not the one of a record in which any differs.
func TestIdentity(t *testing.T) {
	s, _ := newState(t)
	r := start(t, s, oneBrick)[0]
	for name, alter := range map[string]func(*fleet.Record){
		"start":  func(r *fleet.Record) { r.ProcessStart += "1" },
		"run":    func(r *fleet.Record) { r.Run = r.Run[1:] },
		"binary": func(r *fleet.Record) { r.BinarySHA256 = strings.Repeat("0", len(r.BinarySHA256)) },
		"pid":    func(r *fleet.Record) { r.PID = os.Getpid() },
	} {
		other := r
		alter(&other)
		if err := other.Signal(syscall.SIGKILL); !errors.Is(err, fleet.ErrGone) {
			t.Errorf("%s: error %v, want ErrGone", name, err)
		}
	}
	mustAnswer(t, &r, protect.On)
}

func edit(t *testing.T, path, field string, value any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal(text, &record); err != nil {
		t.Fatal(err)
	}
	record[field] = value
	if text, err = json.Marshal(record); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The program that started the bricks had no file any more, as under go run.
func TestBinaryGone(t *testing.T) {
	s, dir := newState(t)
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "ssmctl")
	if err := os.WriteFile(copied, self, 0o700); err != nil {
		t.Fatal(err)
	}
	starter := exec.Command(copied)
	starter.Env = append(os.Environ(), childMode+"="+modeVanish, stateOfMode+"="+dir)
	if out, err := starter.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
	r, err := s.Record(1)
	if err != nil {
		t.Fatal(err)
	}
	crash(t, &r)
	again, err := s.Restart(t.Context(), 1)
	if err != nil || again.BinarySHA256 != r.BinarySHA256 {
		t.Fatalf("restarted %+v, error %v", again, err)
	}
	mustAnswer(t, &again, protect.On)
}

// A brick whose starter dies before it is recorded ends, so that none runs unknown.
func TestStarterDies(t *testing.T) {
	answers, answer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answers.Close() }()
	order, orders, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "brick", "serve", "--run", "0")
	cmd.ExtraFiles = []*os.File{answer, order}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_ = answer.Close()
	_ = order.Close()
	o := fleet.Order{ID: 1, Listen: "127.0.0.1:0", Profile: native(), Protection: "on"}
	if err := json.NewEncoder(orders).Encode(o); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(answers).ReadString('\n'); err != nil || !strings.Contains(line, "127.0.0.1:") {
		t.Fatalf("answer %q, error %v", line, err)
	}
	_ = orders.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "given up") {
		t.Errorf("error %v, it said %q", err, said.String())
	}
	if _, err := answers.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want the end of the answers", err)
	}
}

package fleet_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// newPlace returns a place of which nothing is left after the test.
func newPlace(t *testing.T) fleet.Place {
	t.Helper()
	p := fleet.Place{Cluster: "c1", Host: "h1", Base: filepath.Join(t.TempDir(), "hosts")}
	t.Cleanup(func() {
		if s, err := p.Sweep(context.Background(), false); err != nil || len(s.Left) > 0 {
			t.Errorf("swept %+v, error %v", s, err)
		}
		wantGone(t, p.Base)
	})
	return p
}

func wantGone(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want it to be gone", path, err)
	}
}

// performance is a Perform under way.
type performance struct {
	in      *io.PipeWriter
	started []fleet.Started
	done    chan error
}

// perform lets two bricks with keys start and waits for the answer, or the error.
func perform(t *testing.T, p fleet.Place) (*performance, error) {
	t.Helper()
	authority, err := secure.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	task := fleet.Task{Count: 2, First: 7, Listen: "127.0.0.1:0", Profile: native(), Protection: "on"}
	for range task.Count {
		keys, err := authority.Issue("brick")
		if err != nil {
			t.Fatal(err)
		}
		task.Keys = append(task.Keys, keys)
	}
	inRead, in := io.Pipe()
	outRead, out := io.Pipe()
	f := &performance{in: in, done: make(chan error, 1)}
	go func() {
		err := p.Perform(context.Background(), inRead, out, nil)
		_ = out.CloseWithError(io.EOF) // of a pipe, it never fails
		f.done <- err
	}()
	t.Cleanup(func() { _ = in.Close() })
	if err := json.NewEncoder(in).Encode(task); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(outRead).ReadBytes('\n')
	if err != nil {
		return nil, <-f.done
	}
	if strings.Contains(string(line), "PRIVATE") {
		t.Errorf("the answer has a key in it: %s", line)
	}
	return f, json.Unmarshal(line, &f.started)
}

// keep says the word, after which both bricks run.
func (f *performance) keep(t *testing.T, p fleet.Place) {
	t.Helper()
	if _, err := io.WriteString(f.in, fleet.KeepWord); err != nil {
		t.Fatal(err)
	}
	if err := <-f.done; err != nil || running(t, p) != 2 {
		t.Fatalf("%d run, error %v", running(t, p), err)
	}
}

func running(t *testing.T, p fleet.Place) int {
	t.Helper()
	roster, err := p.State(nil).Running()
	if err != nil {
		t.Fatal(err)
	}
	return len(roster.Bricks)
}

// Bricks that are kept stay, those of another start are refused, and a sweep leaves nothing.
func TestPerformKept(t *testing.T) {
	p := newPlace(t)
	f, err := perform(t, p)
	if err != nil || len(f.started) != 2 || f.started[0].ID != "brick-7" || f.started[1].ID != "brick-8" {
		t.Fatalf("started %+v, error %v", f, err)
	}
	f.keep(t, p)
	var again *fleet.RunningError
	if _, err := perform(t, p); !errors.As(err, &again) || errors.As(err, new(*fleet.TakenError)) {
		t.Errorf("a second start: %v", err)
	}
	other := p
	other.Cluster = "c2"
	var taken *fleet.TakenError
	if _, err := perform(t, other); !errors.As(err, &taken) || taken.Place.Cluster != "c1" {
		t.Errorf("a start of another cluster: %v", err)
	}
	wantSwept(t, p)
}

// wantSwept looks, and then ends the two bricks of a place.
func wantSwept(t *testing.T, p fleet.Place) {
	t.Helper()
	dry, err := p.Sweep(t.Context(), true)
	if err != nil || len(dry.Bricks) != 2 || running(t, p) != 2 {
		t.Errorf("dry: %+v, error %v", dry, err)
	}
	swept, err := p.Sweep(t.Context(), false)
	if err != nil || len(swept.Bricks) != 2 || swept.Bricks[0].How != string(fleet.Stopped) || len(swept.Left) > 0 {
		t.Errorf("swept %+v, error %v", swept, err)
	}
	wantGone(t, p.Base)
}

// Hosts may share a home: what runs on one is nothing to another.
func TestPerformElsewhere(t *testing.T) {
	p := newPlace(t)
	f, err := perform(t, p)
	if err != nil {
		t.Fatal(err)
	}
	other := fleet.Place{Cluster: "c2", Host: "h2", Base: p.Base}
	g, err := perform(t, other)
	if err != nil {
		t.Fatal(err)
	}
	_ = g.in.Close() // of a pipe, it never fails
	if err := <-g.done; !errors.Is(err, fleet.ErrNotKept) {
		t.Error(err)
	}
	if n := running(t, p); n != 2 {
		t.Errorf("%d run, want the 2 from before", n)
	}
	_ = f.in.Close() // of a pipe, it never fails
	if err := <-f.done; !errors.Is(err, fleet.ErrNotKept) {
		t.Error(err)
	}
}

// Bricks whose starter goes away before it has said the word are taken back.
func TestPerformNotKept(t *testing.T) {
	for _, word := range []string{"", "drop\n", "kee"} {
		p := newPlace(t)
		f, err := perform(t, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f.in, word); err != nil {
			t.Fatal(err)
		}
		_ = f.in.Close() // of a pipe, it never fails
		if err := <-f.done; !errors.Is(err, fleet.ErrNotKept) {
			t.Errorf("%q: %v", word, err)
		}
		wantGone(t, p.Base)
	}
}

// agentAt starts an agent at a place. The error is what it says instead of that it is there.
func agentAt(t *testing.T, p fleet.Place) (*exec.Cmd, io.WriteCloser, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "agent", "--cluster", p.Cluster, "--host", p.Host, "--reserve")
	cmd.Env = append(os.Environ(), stateOfMode+"="+p.Base)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n') // an end is an empty line
	if line != "there\n" {
		_ = cmd.Wait() // what it says is the error
		return nil, nil, errors.New(line)
	}
	return cmd, in, nil
}

// One load has a host at a time; one that has ended leaves nothing, and one that does not end
// is swept away.
func TestEnlist(t *testing.T) {
	p := newPlace(t)
	cmd, in, err := agentAt(t, p)
	if err != nil {
		t.Fatal(err)
	}
	other := p
	other.Cluster = "c2"
	if _, _, err := agentAt(t, other); err == nil || !strings.Contains(err.Error(), "cluster c1") {
		t.Errorf("a second load: %v", err)
	}
	elsewhere := other
	elsewhere.Host = "h2"
	second, secondIn, err := agentAt(t, elsewhere)
	if err != nil {
		t.Errorf("on another host: %v", err)
	}
	_ = secondIn.Close() // its end
	if err := second.Wait(); err != nil {
		t.Error(err)
	}
	if s, err := elsewhere.Sweep(t.Context(), false); err != nil || len(s.Agents) > 0 {
		t.Errorf("after it has left: %+v, error %v", s, err)
	}
	dry, err := p.Sweep(t.Context(), true)
	if err != nil || !slices.Equal(dry.Agents, []int{cmd.Process.Pid}) {
		t.Errorf("dry: %+v, error %v", dry, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	swept, err := p.Sweep(t.Context(), false)
	if err != nil || !slices.Equal(swept.Agents, []int{cmd.Process.Pid}) {
		t.Errorf("swept %+v, error %v", swept, err)
	}
	if err := <-ended; err == nil {
		t.Error("the agent ended by itself")
	}
	_ = in.Close() // its reader is gone
	wantGone(t, p.Base)
}

// A name that is no directory's is refused before anything is touched.
func TestPlaceNames(t *testing.T) {
	for _, p := range []fleet.Place{
		{Cluster: "", Host: "h"},
		{Cluster: "c", Host: ""},
		{Cluster: "..", Host: "h"},
		{Cluster: "a/b", Host: "h"},
		{Cluster: "c", Host: ".h"},
		{Cluster: "c", Host: strings.Repeat("h", 300)},
	} {
		p.Base = t.TempDir()
		if _, err := p.Sweep(t.Context(), false); err == nil {
			t.Errorf("%+v was swept", p)
		}
		if _, err := p.Enlist(false); err == nil {
			t.Errorf("%+v was used", p)
		}
	}
}

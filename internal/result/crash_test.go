package result

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

const crashEnv = "SSMCTL_TEST_CRASH_DIR"

// appendForever reports each level once it is durable.
func appendForever(path string) error {
	d, err := Resume(path, 0)
	if err != nil {
		return err
	}
	for {
		if err := d.AppendLevel(sample(d.Levels())); err != nil {
			return err
		}
		if err := d.AddEvent(Event{Kind: "level"}); err != nil {
			return err
		}
		fmt.Println(d.Levels())
	}
}

// A run whose writer was killed reads, has every level that was reported durable,
// and can be gone on with. The child never pauses, so the signal finds it at work.
func TestCrash(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" { // this is the child
		t.Fatal(appendForever(path))
	}
	for kill := range 6 {
		d := create(t, t.TempDir())
		giveBack(t, d)
		durable := killAfter(t, d.Path(), kill)
		r := open(t, d.Path())
		if len(r.Rows) < durable {
			t.Errorf("%d levels, %d were durable", len(r.Rows), durable)
		}
		checkLevels(t, r, len(r.Rows))
		again, err := Resume(d.Path(), len(r.Rows))
		if err != nil {
			t.Fatal(err)
		}
		appendLevels(t, again, 1)
		checkLevels(t, open(t, d.Path()), len(r.Rows)+1)
	}
}

// killAfter starts a child that writes to the run, kills it once it has reported so
// many levels, and returns how many it had reported by then.
func killAfter(t *testing.T, path string, levels int) (durable int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestCrash$")
	child.Env = append(os.Environ(), crashEnv+"="+path)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	next := func() bool {
		if !lines.Scan() {
			return false
		}
		if lines.Text() != strconv.Itoa(durable+1) {
			t.Errorf("the child failed: %s", lines.Text())
		}
		return true
	}
	for durable < levels && next() {
		durable++
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for next() { // reported before the signal came
		durable++
	}
	_ = child.Wait() // says that it was killed
	return durable
}

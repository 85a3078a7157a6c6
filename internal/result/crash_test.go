package result

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const crashEnv = "SSMCTL_TEST_CRASH_DIR"

// TestMain lets the test binary be the child that TestCrash kills.
func TestMain(m *testing.M) {
	if path := os.Getenv(crashEnv); path != "" {
		if err := appendForever(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

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
	for kill := range 6 {
		d := create(t, t.TempDir())
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashEnv+"="+d.Path())
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		child.Stderr = &stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		durable := 0
		for durable < kill && lines.Scan() {
			durable++
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() { // reported before the signal came
			durable++
		}
		_ = child.Wait() // says that it was killed
		if stderr.Len() > 0 {
			t.Fatalf("the child failed: %s", stderr.String())
		}
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

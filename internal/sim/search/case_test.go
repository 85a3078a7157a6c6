package search

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// Every case that is drawn can be run, keeps its file's form, and is drawn again the same.
func TestDraw(t *testing.T) {
	promised := 0
	for seed := range uint64(2000) {
		c := Draw(seed)
		if _, err := c.config(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		file, again := fileOf(t, &c), Draw(seed)
		if other := fileOf(t, &again); other != file {
			t.Fatalf("seed %d gives two cases:\n%s\n%s", seed, file, other)
		}
		read, err := Read(strings.NewReader(file))
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, file)
		}
		if other := fileOf(t, &read); other != file {
			t.Fatalf("seed %d: the file\n%s\nis read as\n%s", seed, file, other)
		}
		if c.promised() {
			promised++
		}
	}
	if promised < 500 {
		t.Errorf("%d of 2000 cases come with the promise of progress, want a quarter", promised)
	}
}

func fileOf(t *testing.T, c *Case) string {
	t.Helper()
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadRefuses(t *testing.T) {
	good := Draw(1)
	whole := fileOf(t, &good)
	if _, err := Read(strings.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	with := func(change func(c *Case)) string {
		c := clone(&good)
		change(&c)
		return fileOf(t, &c)
	}
	for name, file := range map[string]string{
		"nothing":             "",
		"no JSON":             "seed: 1",
		"two things":          whole + whole,
		"an unknown field":    strings.Replace(whole, `"seed"`, `"sead"`, 1),
		"no bricks":           with(func(c *Case) { c.Bricks = 0 }),
		"room for no state":   with(func(c *Case) { c.Memory = 1 }),
		"almost for a state":  with(func(c *Case) { c.Memory = int64(c.Size) + 79 }),
		"too much memory":     with(func(c *Case) { c.Memory = 1 << 62 }),
		"room for no write":   with(func(c *Case) { c.Inbox = 1 }),
		"too large an inbox":  with(func(c *Case) { c.Inbox = math.MaxInt64 }),
		"a link of centuries": with(func(c *Case) { c.LinkRate = 1e-300 }),
		"a link without end":  with(func(c *Case) { c.LinkRate = math.MaxFloat64 }),
		"a rate beyond":       with(func(c *Case) { c.Rate = 1e18 }),
		"a high rate":         with(func(c *Case) { c.Rate = 1e7 }),
		"a rate in flight":    with(func(c *Case) { c.Rate, c.Timeout, c.Duration = 1e4, Span(time.Minute), Span(time.Second) }),
		"a rate for too long": with(func(c *Case) { c.Rate, c.Duration = 1e4, Span(time.Hour) }),
		"too many users":      with(func(c *Case) { c.Machines, c.Threads = 1000, 1000 }),
		"restless users": with(func(c *Case) {
			c.Machines, c.Threads, c.Turn, c.Duration = 1, 1000, Span(time.Millisecond), Span(time.Minute)
		}),
		"too many guests":      with(func(c *Case) { c.Faults = []string{"surge:load,machines=99999@1s"} }),
		"too many machines":    with(func(c *Case) { c.Machines = 1001 }),
		"more copies":          with(func(c *Case) { c.W = c.Bricks + 1 }),
		"half a second":        with(func(c *Case) { c.Duration += 500_000_000 }),
		"no time":              with(func(c *Case) { c.Duration = 0 }),
		"no time-out":          with(func(c *Case) { c.Timeout = 0 }),
		"a small state":        with(func(c *Case) { c.Size = 15 }),
		"a negative bound":     with(func(c *Case) { c.Memory = -1 }),
		"more than all lost":   with(func(c *Case) { c.Loss = 1.1 }),
		"users who never rest": with(func(c *Case) { c.Turn = 0 }),
		"no cost":              with(func(c *Case) { c.Put = 0 }),
		"an unknown setting":   with(func(c *Case) { c.Protection = "half" }),
		"an unknown policy":    with(func(c *Case) { c.Policy = "fast" }),
		"an unknown change":    with(func(c *Case) { c.Changes = []Change{{0, "half"}} }),
		"a late change":        with(func(c *Case) { c.Changes = []Change{{c.Duration, "on"}} }),
		"an unknown fault":     with(func(c *Case) { c.Faults = []string{"burn:brick-1@1s"} }),
		"a fault of no brick":  with(func(c *Case) { c.Faults = []string{"kill:brick-99@1s"} }),
	} {
		if c, err := Read(strings.NewReader(file)); err == nil {
			t.Errorf("%s: read as %+v", name, c)
		}
	}
}

// A case on a bound of what is taken runs, and breaks no promise.
func TestReadTakesBounds(t *testing.T) {
	for name, change := range map[string]func(c *Case){
		"room for one state": func(c *Case) { c.Memory = int64(c.Size) + 80 },
		"room for one write": func(c *Case) { c.Inbox = int64(c.Size) + 128 },
		"a slow link":        func(c *Case) { c.LinkRate = math.Ceil(float64(c.Size+128) / 60) },
		"a large memory":     func(c *Case) { c.Memory, c.Size = 1<<40, 64<<20 },
		"a large inbox":      func(c *Case) { c.Inbox, c.Size = 1<<40, 16 },
	} {
		for seed := uint64(1); seed <= 4; seed++ {
			c := Draw(seed)
			c.Memory, c.Inbox, c.LinkRate = 0, 0, 0
			change(&c)
			read, err := Read(strings.NewReader(fileOf(t, &c)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if v, _, err := Run(t.Context(), &read); v != nil || err != nil {
				t.Errorf("%s, seed %d: violation %+v, error %v", name, seed, v, err)
			}
		}
	}
}

// The same case gives the same events, to the byte.
func TestReplay(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		c := Draw(seed)
		var first, second bytes.Buffer
		for _, w := range []*bytes.Buffer{&first, &second} {
			if _, err := Trace(t.Context(), &c, w); err != nil {
				t.Fatal(err)
			}
		}
		if first.Len() == 0 || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("seed %d: traces of %d and %d bytes, want the same", seed, first.Len(), second.Len())
		}
	}
}

func FuzzRead(f *testing.F) {
	for seed := range uint64(3) {
		c := Draw(seed)
		var b strings.Builder
		if err := c.Write(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.String())
	}
	f.Fuzz(func(t *testing.T, file string) {
		c, err := Read(strings.NewReader(file))
		if err != nil {
			return
		}
		once := fileOf(t, &c)
		again, err := Read(strings.NewReader(once))
		if err != nil || fileOf(t, &again) != once {
			t.Errorf("%s\ncame back as %+v, error %v", once, again, err)
		}
	})
}

// The page that says how to read a violation lists every invariant as it is checked.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range promises {
		if line := fmt.Sprintf("| `%s` | %s |\n", p.name, p.promise); !strings.Contains(string(page), line) {
			t.Errorf("docs/simulation.md has no line %s", line)
		}
	}
}

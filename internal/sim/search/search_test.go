package search

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Environment of a search by go test: how many seeds, and an invariant whose first violation
// ends the search, the cases left as they were drawn.
const (
	seedsVariable = "SSMCTL_SEARCH_SEEDS"
	forVariable   = "SSMCTL_SEARCH_FOR"
)

// TestSearch runs the first seeds. What it finds is shown as the command shows it.
func TestSearch(t *testing.T) {
	seeds, how := 250, judge
	if text := os.Getenv(seedsVariable); text != "" {
		var err error
		if seeds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	wanted := Invariant(os.Getenv(forVariable))
	if wanted != "" {
		how = judgeAsDrawn
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := search(ctx, 1, seeds, how, func(s *Summary) {
		if n := len(s.Findings); n > 0 && s.Findings[n-1].Violation.Invariant == wanted {
			cancel()
		}
	})
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		var file strings.Builder
		if err := f.Case.Write(&file); err != nil {
			t.Error(err)
		}
		t.Errorf("%s\n%s", f, file.String())
	}
	t.Logf("%d cases, %d with the promise of progress, %d events", s.Cases, s.Promised, s.Events)
}

// What workers have found when a search is interrupted is not lost, counted or not.
func TestSearchInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// Seed 2 and those after it break something; seed 1 lasts until the search is interrupted, which
	// happens while one of them is being shrunk.
	how := func(ctx context.Context, seed uint64) verdict {
		if seed == 1 {
			<-ctx.Done()
			return verdict{err: ctx.Err()}
		}
		if seed == 3 {
			cancel()
		}
		c := Draw(seed)
		return verdict{finding: &Finding{Drawn: c, Case: c}}
	}
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	s, err := search(ctx, 1, 1000, how, func(*Summary) {})
	if !errors.Is(err, context.Canceled) || len(s.Findings) < 2 || s.Findings[0].Drawn.Seed != 2 || s.Findings[1].Drawn.Seed != 3 {
		t.Errorf("%d findings, error %v", len(s.Findings), err)
	}
}

package facts_test

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet/facts"
)

// TestAsk: both ends on one machine, whose clock agrees with itself within the round trip.
func TestAsk(t *testing.T) {
	questions, ask := io.Pipe()
	answers, say := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- facts.Serve(questions, say) }()
	f, clock, err := facts.Ask(ask, answers)
	if err != nil {
		t.Fatal(err)
	}
	if f.OS != runtime.GOOS || f.Arch != runtime.GOARCH || f.Cores < 1 || f.Kernel == "" {
		t.Errorf("got %+v", f)
	}
	if clock.RoundTrip <= 0 || clock.Offset.Abs() > clock.RoundTrip/2+1 {
		t.Errorf("got %+v", clock)
	}
	if err := ask.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestNoAnswer: what ends early or speaks of something else is an error, not a host.
func TestNoAnswer(t *testing.T) {
	for _, said := range []string{"", "Welcome to b1!\n", "{}\n", "{}\nnoon\n"} {
		if f, clock, err := facts.Ask(&bytes.Buffer{}, strings.NewReader(said)); err == nil {
			t.Errorf("%q: %+v, %+v", said, f, clock)
		}
	}
}

// What a state directory must be, in words.
func TestStateWrong(t *testing.T) {
	for want, s := range map[string]facts.State{
		"": {Dir: "/s", Free: 30 << 20, Need: 30 << 20},
		"nothing can be kept in /s: read-only file system": {Dir: "/s", Err: "read-only file system"},
		"/s has room for 2 MB, and 31 MB are needed":       {Dir: "/s", Free: 2 << 20, Need: 30 << 20},
	} {
		if got := s.Wrong(); got != want {
			t.Errorf("%+v: got %q, want %q", s, got, want)
		}
	}
}

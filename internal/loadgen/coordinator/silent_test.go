package coordinator

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
)

// An agent that says nothing for too long within a level is lost; others are not, nor is it
// where nothing is due.
func TestSilence(t *testing.T) {
	c := New(Config{
		Plan:   result.Plan{Duration: time.Second},
		Agents: []Agent{{Host: "talks", In: io.Discard}, {Host: "silent", In: io.Discard}, {Host: "done", In: io.Discard}},
		Event:  func(result.Event) error { return nil },
	})
	g, err := newGathering(c, loadgen.Point{Machines: 3}, "on", &survey{})
	if err != nil {
		t.Fatal(err)
	}
	g.expect()
	delete(g.waiting, c.agents[2])
	now := time.Now()
	c.agents[0].heard = now.Add(-silentWithin)
	if err := g.loseSilent(now); err != nil || len(c.live()) != 3 {
		t.Errorf("before the level: %d left, error %v", len(c.live()), err)
	}
	g.silence = silentWithin
	if err := g.loseSilent(now); err != nil || len(c.live()) != 2 {
		t.Errorf("%d left, error %v", len(c.live()), err)
	}
	var lost *LostError
	if err := c.lost(); !errors.As(err, &lost) || len(lost.Lost) != 1 || !strings.Contains(err.Error(), "silent is lost: it has said nothing for 15s") {
		t.Errorf("lost: %v", err)
	}
}

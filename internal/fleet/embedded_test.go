package fleet_test

import (
	"log/slog"
	"testing"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/protect"
)

var discard = slog.New(slog.DiscardHandler)

func TestClusters(t *testing.T) {
	for name, open := range map[string]func() (*fleet.Cluster, error){
		"embedded":   func() (*fleet.Cluster, error) { return fleet.Embedded(3, native(), protect.On, 0, 1) },
		"foreground": func() (*fleet.Cluster, error) { return fleet.Foreground(bricks(3), discard) },
	} {
		c, err := open()
		if err != nil {
			t.Fatal(err)
		}
		answers, errs := remote.All(t.Context(), c.Bricks(), plain.Status)
		if len(answers) != 3 || len(errs) > 0 || answers[2].Brick != 3 || answers[2].Setting != protect.On {
			t.Errorf("%s: answers %+v, errors %v", name, answers, errs)
		}
		if err := c.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, errs := remote.All(t.Context(), c.Bricks(), plain.Status); len(errs) != 3 {
			t.Errorf("%s: after Close, errors %v, want 3", name, errs)
		}
	}
}

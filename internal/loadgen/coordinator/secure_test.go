package coordinator_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// guarded starts n bricks of a new cluster, and returns keys of a member.
func guarded(t *testing.T, n int) ([]remote.Brick, *secure.Keys) {
	t.Helper()
	authority, err := secure.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]secure.Keys, n+1)
	for i := range keys {
		if keys[i], err = authority.Issue("test"); err != nil {
			t.Fatal(err)
		}
	}
	c, err := fleet.Foreground(fleet.StartOptions{
		Count: n, Listen: "127.0.0.1:0", Profile: quick, Protection: protect.Off, Keys: keys[1:],
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.Bricks(), &keys[0]
}

// The coordinator and its agents speak with bricks that let in members alone.
func TestKeys(t *testing.T) {
	t.Parallel()
	bricks, keys := guarded(t, 4)
	p := plan(2)
	p.Protection = []string{"on"}
	r := prepareTwo(t, p, bricks)
	r.cfg.Keys = keys
	r.must(1)
	consistent(t, &r.levels[0], 2)
}

// Without keys, or with another cluster's, nothing is measured.
func TestWrongKeys(t *testing.T) {
	t.Parallel()
	bricks, _ := guarded(t, 4)
	_, theirs := guarded(t, 1)
	for name, keys := range map[string]*secure.Keys{"none": nil, "another cluster's": theirs, "empty": {}} {
		r := prepareTwo(t, plan(2), bricks)
		r.cfg.Keys = keys
		if err := r.measure(t.Context()); err == nil || len(r.levels) > 0 {
			t.Errorf("%s: %d levels, error %v", name, len(r.levels), err)
		} else if strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: keys in the error: %v", name, err)
		}
	}
}

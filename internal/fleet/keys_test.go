package fleet_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// exposed is a brick that others could reach.
func exposed() fleet.StartOptions {
	o := oneBrick
	o.Listen = "0.0.0.0:0"
	return o
}

func beside(o fleet.StartOptions) fleet.StartOptions {
	o.Add = true
	return o
}

// wantMembers checks that the bricks of a directory answer those who have their keys, and
// nobody else.
func wantMembers(t *testing.T, s *fleet.State, n int) {
	t.Helper()
	roster, err := s.Running()
	if err != nil {
		t.Fatal(err)
	}
	if len(roster.Bricks) != n || roster.Keys == nil {
		t.Fatalf("%d bricks, keys %v", len(roster.Bricks), roster.Keys)
	}
	records, err := s.Records()
	if err != nil {
		t.Fatal(err)
	}
	client, err := fleet.ClientOf(records)
	if err != nil {
		t.Fatal(err)
	}
	if answers, errs := remote.All(t.Context(), roster.Bricks, client.Status); len(errs) > 0 {
		t.Errorf("to a member: %v, errors %v", answers, errs)
	}
	if answers, errs := remote.All(t.Context(), roster.Bricks, plain.Status); len(errs) != n {
		t.Errorf("to a stranger: %v, errors %v", answers, errs)
	}
}

// wantPrivate checks that nothing of the keys of a directory is readable for others.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	for path, want := range map[string]fs.FileMode{
		"brick-1.json": 0o600, "keys": fs.ModeDir | 0o700, "keys/authority.pem": 0o600, ".": fs.ModeDir | 0o700,
	} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, error %v", path, info.Mode(), err)
		}
	}
	if log, err := os.ReadFile(filepath.Join(dir, "brick-1.log")); err != nil || strings.Contains(string(log), "PRIVATE") || !strings.Contains(string(log), "tls=true") {
		t.Errorf("log: %s, error %v", log, err)
	}
}

// Bricks beyond loopback are members of a cluster that begins with the first of them and
// ends with the last.
func TestKeysOfTheirOwn(t *testing.T) {
	s, dir := newState(t)
	start(t, s, exposed())
	first := start(t, s, beside(exposed()))
	start(t, s, beside(oneBrick)) // on loopback, but of the same cluster
	wantMembers(t, s, 3)
	wantPrivate(t, dir)
	records, err := s.Records()
	if err != nil {
		t.Fatal(err)
	}
	client, err := fleet.ClientOf(records)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if _, err := client.Protect(t.Context(), records[i].Brick(), protect.WindowOnly); err != nil {
			t.Fatal(err)
		}
	}
	again, err := s.Restart(t.Context(), first[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := client.Status(t.Context(), again.Brick()); err != nil || h.Setting != protect.WindowOnly {
		t.Errorf("after a restart: %s, error %v", h.Setting, err)
	}
	wantMembers(t, s, 3)
	if _, err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "keys")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the keys are left: %v", err)
	}
}

// All bricks of a directory are of one cluster: what would mix is refused, and leaves what
// runs as it was.
func TestKeysDoNotMix(t *testing.T) {
	open := exposed()
	open.Plaintext = true
	foreign := oneBrick
	foreign.Keys = issue(t, 1)
	for name, test := range map[string]struct{ first, second fleet.StartOptions }{
		"plaintext beside keys":        {exposed(), open},
		"keys beside plaintext":        {oneBrick, exposed()},
		"another cluster":              {exposed(), foreign},
		"keys from afar, then its own": {foreign, exposed()},
		"given keys beside plaintext":  {open, foreign},
	} {
		s, _ := newState(t)
		records := start(t, s, test.first)
		if got, err := s.Start(t.Context(), beside(test.second)); err == nil {
			t.Errorf("%s: %+v", name, got[0].Addr)
		}
		client, err := fleet.ClientOf(records)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Status(t.Context(), records[0].Brick()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// issue returns the keys of n members of a new cluster.
func issue(t *testing.T, n int) []secure.Keys {
	t.Helper()
	authority, err := secure.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]secure.Keys, n)
	for i := range keys {
		if keys[i], err = authority.Issue("test"); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

// Keys of a cluster that is kept elsewhere are enough, and must be one for each brick.
func TestGivenKeys(t *testing.T) {
	s, dir := newState(t)
	o := bricks(2)
	o.Keys = issue(t, 3)
	if _, err := s.Start(t.Context(), o); err == nil {
		t.Error("keys for three bricks start two")
	}
	o.Keys[0].Key = o.Keys[1].Key
	o.Keys = o.Keys[:2]
	var failed *fleet.StartError
	if _, err := s.Start(t.Context(), o); !errors.As(err, &failed) || strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("a key of another member: %v", err)
	}
	mustBeEmpty(t, s, dir)
	o.Keys = issue(t, 2)
	start(t, s, o)
	wantMembers(t, s, 2)
	if _, err := os.Stat(filepath.Join(dir, "keys")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an authority is kept here: %v", err)
	}
}

// Bricks in the foreground have nobody who would keep keys for them.
func TestForegroundExposed(t *testing.T) {
	if c, err := fleet.Foreground(exposed(), discard); !errors.Is(err, fleet.ErrExposed) {
		t.Errorf("error %v", err)
		if err == nil {
			_ = c.Close()
		}
	}
	open := exposed()
	open.Plaintext = true
	c, err := fleet.Foreground(open, discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs := remote.All(t.Context(), c.Bricks(), plain.Status); len(errs) > 0 {
		t.Errorf("errors %v", errs)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

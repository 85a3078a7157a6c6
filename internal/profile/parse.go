package profile

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// Names returns the built-in profiles in alphabetical order.
func Names() []string {
	entries, err := builtin.ReadDir("builtin")
	if err != nil {
		return nil // cannot be: the directory is compiled in
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	return names
}

// Source returns the YAML text of a built-in profile, comments included. The
// error lists the names that exist.
func Source(name string) ([]byte, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("no profile %q: choose %s, or give a YAML file", name, strings.Join(Names(), " or "))
	}
	return builtin.ReadFile("builtin/" + name + ".yaml")
}

// ByName parses a built-in profile.
func ByName(name string) (Profile, error) {
	src, err := Source(name)
	if err != nil {
		return Profile{}, err
	}
	return Parse(src)
}

// Parse reads a profile from YAML. Unknown fields are errors, with the line.
func Parse(src []byte) (Profile, error) {
	var p Profile
	if err := yaml.UnmarshalWithOptions(src, &p, yaml.Strict()); err != nil {
		return Profile{}, fmt.Errorf("profile: %s", yaml.FormatError(err, false, false))
	}
	if err := p.Validate(); err != nil {
		return Profile{}, fmt.Errorf("profile: %w", err)
	}
	return p, nil
}

// Validate checks every bound and reports all that are broken, joined.
func (p *Profile) Validate() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if p.Name == "" {
		fail("name: missing: give it one")
	}
	switch p.Processor.Kind {
	case Native:
		if p.Processor != (Processor{Kind: Native}) {
			fail("processor: a native one takes no costs: remove them or say kind: emulated")
		}
	case Emulated:
		if p.Processor.Put <= 0 || p.Processor.Get <= 0 {
			fail("processor: put and get: an emulated one needs both above zero")
		}
	default:
		fail("processor.kind: %q: choose native or emulated", p.Processor.Kind)
	}
	for name, d := range p.durations() {
		if d < 0 || d > time.Hour {
			fail("%s: %v: choose 0s to 1h", name, d)
		}
	}
	for name, share := range p.shares() {
		if !(share >= 0 && share <= 1) { // nor what is no number
			fail("%s: %v: choose 0 to 1", name, share)
		}
	}
	if e := p.Users.Expiry; e < time.Second || e%time.Second != 0 {
		fail("users.expiry: %v: choose whole seconds, at least 1s", e)
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (p *Profile) durations() map[string]time.Duration {
	return map[string]time.Duration{
		"processor.put": p.Processor.Put, "processor.get": p.Processor.Get, "processor.per_kib": p.Processor.PerKiB,
		"network.one_way": p.Network.OneWay, "users.own": p.Users.Own, "users.pause": p.Users.Pause,
		"users.turn": p.Users.Turn, "users.expiry": p.Users.Expiry,
	}
}

func (p *Profile) shares() map[string]float64 {
	return map[string]float64{
		"processor.jitter": p.Processor.Jitter, "processor.discard": p.Processor.Discard,
		"users.own_jitter": p.Users.OwnJitter, "users.turn_jitter": p.Users.TurnJitter,
	}
}

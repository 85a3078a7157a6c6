package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

const (
	defaultBricks  = 8
	defaultProfile = "nsdi04"
	defaultWarmup  = 5 * time.Second
	defaultSize    = 8 << 10
	maxBricks      = 1000
	maxThreads     = 100_000
	maxUsers       = 1_000_000
	maxRate        = 10_000_000
	longest        = 24 * time.Hour
	longestTimeout = time.Minute
	longestAudit   = time.Hour
)

// planOf checks the plan flags and makes the plan. Every error is one of usage. The
// number of bricks is filled in, and checked, when they are known.
func planOf(c *cli.Context) (result.Plan, error) {
	scenario, err := applyScenario(c)
	if err != nil {
		return result.Plan{}, err
	}
	p := result.Plan{
		Threads: c.Int("threads"), Duration: c.Duration("duration"), Warmup: c.Duration("warmup"),
		Timeout: c.Duration("timeout"), W: c.Int("w"), WQ: c.Int("wq"), R: c.Int("r"),
		Bricks: c.Int("bricks"), Seed: c.Uint64("seed"), Rate: c.Float64("rate"),
	}
	if audit := c.Duration("audit"); audit != result.DefaultAudit {
		p.Audit = audit
	}
	switch { // zero is for flags that are left out
	case c.IsSet("bricks") && p.Bricks == 0:
		return p, usagef("--bricks: 0: choose 1 to %d, or leave it out", maxBricks)
	case c.Duration("audit") == 0:
		return p, usagef("--audit: 0s: choose 1ms to %v", longestAudit)
	case c.IsSet("rate") && p.Rate == 0:
		return p, usagef("--rate: 0: choose more, or leave it out for a closed loop")
	}
	for _, check := range []func(*cli.Context, *result.Plan) error{planLevels, planLists, planSize, planNumbers} {
		if err := check(c, &p); err != nil {
			return p, usage(err)
		}
	}
	return p, planFaults(c, &p, &scenario)
}

func planLevels(c *cli.Context, p *result.Plan) (err error) {
	if c.String("machines") == "" {
		return errors.New("--machines: missing: give one or more levels, such as --machines 4,14,24, or a --scenario")
	}
	if p.Machines, err = loadgen.ParseLevels(c.String("machines")); err != nil {
		return fmt.Errorf("--machines: %w", err)
	}
	return nil
}

func planLists(c *cli.Context, p *result.Plan) error {
	if list := c.String("protection"); list != "" || c.IsSet("protection") {
		for name := range strings.SplitSeq(list, ",") {
			if _, err := protect.ParseSetting(name); err != nil {
				return fmt.Errorf("--protection: %w", err)
			}
			if slices.Contains(p.Protection, name) {
				return fmt.Errorf("--protection: %s is named twice: once is enough", name)
			}
			p.Protection = append(p.Protection, name)
		}
	}
	for name := range strings.SplitSeq(c.String("policy"), ",") {
		if _, err := protect.PolicyByName(name); err != nil {
			return fmt.Errorf("--policy: %w", err)
		}
		if slices.Contains(p.Policies, name) {
			return fmt.Errorf("--policy: %s is named twice: once is enough", name)
		}
		p.Policies = append(p.Policies, name)
	}
	return nil
}

func planSize(c *cli.Context, p *result.Plan) error {
	size, err := parseSize(c.String("size"))
	if err != nil {
		return fmt.Errorf("--size: %w", err)
	}
	if size < loadgen.MinSize || size > loadgen.MaxSize {
		return fmt.Errorf("--size: %d bytes: choose 16B to 64MiB", size)
	}
	p.Size = int(size)
	return nil
}

func planNumbers(_ *cli.Context, p *result.Plan) error {
	most := p.Machines[len(p.Machines)-1]
	for _, c := range []struct {
		flag  string
		given any
		good  bool
		want  string
	}{
		{"threads", p.Threads, p.Threads >= 1 && p.Threads <= maxThreads, fmt.Sprintf("1 to %d", maxThreads)},
		{"threads", p.Threads, p.Threads*most <= maxUsers, fmt.Sprintf("fewer, for %d machines: %d users in all", most, maxUsers)},
		{"duration", p.Duration, p.Duration >= time.Second && wholeSeconds(p.Duration), "whole seconds, 1s to 24h"},
		{"warmup", p.Warmup, wholeSeconds(p.Warmup), "whole seconds, 0s to 24h"},
		{"timeout", p.Timeout, p.Timeout >= time.Millisecond && p.Timeout <= longestTimeout, "1ms to 1m"},
		{"audit", p.AuditWithin(), p.AuditWithin() >= time.Millisecond && p.AuditWithin() <= longestAudit, fmt.Sprintf("1ms to %v", longestAudit)},
		{"bricks", p.Bricks, p.Bricks >= 0 && p.Bricks <= maxBricks, fmt.Sprintf("1 to %d", maxBricks)},
		{"rate", p.Rate, p.Rate >= 0 && p.Rate <= maxRate, fmt.Sprintf("above 0, at most %d attempts per second", maxRate)},
	} {
		if !c.good {
			return fmt.Errorf("--%s: %v: choose %s", c.flag, c.given, c.want)
		}
	}
	return quorumOf(p, p.Bricks)
}

func wholeSeconds(d time.Duration) bool { return d >= 0 && d <= longest && d%time.Second == 0 }

// quorumOf checks the quorum against a number of bricks; 0 is not known yet.
func quorumOf(p *result.Plan, bricks int) error {
	err := session.Quorum{W: p.W, WQ: p.WQ, R: p.R}.Validate(bricks)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	return nil
}

// conditionsOf reads every --fail-if.
func conditionsOf(c *cli.Context, p *result.Plan) ([]result.Condition, error) {
	var all []result.Condition
	for _, text := range c.StringSlice("fail-if") {
		cond, err := result.ParseCondition(text)
		if err != nil {
			return nil, usagef("--fail-if: %w", err)
		}
		if on := cond.Protection(); on != "" && len(p.Protection) > 0 && !slices.Contains(p.Protection, on) {
			return nil, usagef("--fail-if: %q can never hold: no level is measured with protection %s: see --protection", text, on)
		}
		all = append(all, cond)
	}
	return all, nil
}

// parametersOf lists what shapes a run and where each figure comes from. It goes by the
// plan, so that the same plan gives the same list however its flags were written.
func parametersOf(p *result.Plan, prof *profile.Profile, u planUsage) []result.Parameter {
	var all []result.Parameter
	scenario := plannedFlags(p)
	for _, f := range []struct {
		name                    string
		value, published, usual any // nil was not published, or is always chosen
	}{
		{"machines", levelsText(p.Machines), nil, nil},
		{"threads", p.Threads, 12, nil},
		{"duration", p.Duration, 2 * time.Minute, u.duration},
		{"warmup", p.Warmup, nil, defaultWarmup},
		{"protection", orAsFound(p.Protection), nil, orAsFound(strings.Fields(u.protection))},
		{"policy", strings.Join(p.Policies, ","), nil, protect.DefaultPolicy},
		{"w", p.W, 3, nil},
		{"wq", p.WQ, 2, nil},
		{"r", p.R, 1, nil},
		{"timeout", p.Timeout, 60 * time.Millisecond, nil},
		{"size", p.Size, defaultSize, nil},
		{"audit", p.AuditWithin(), nil, result.DefaultAudit},
		{"seed", p.Seed, nil, uint64(1)},
		{"rate", p.Rate, nil, 0.0},
	} {
		source := "flag"
		switch f.value {
		case scenario[f.name]:
			source = scenarioSource(p)
		case f.published:
			source = "published (SSM, NSDI 2004)"
		case f.usual:
			source = "default"
		}
		all = append(all, result.Parameter{Name: f.name, Value: fmt.Sprint(f.value), Source: source})
	}
	all = append(all, faultParameters(p)...)
	all = append(all, watchParameters(p)...)
	all = append(all, result.Parameter{Name: "bricks", Value: fmt.Sprint(p.Bricks), Source: bricksSource(p, prof)})
	for name, source := range prof.Sources {
		all = append(all, result.Parameter{Name: prof.Name + ": " + name, Value: "see profile", Source: source})
	}
	slices.SortStableFunc(all, func(a, b result.Parameter) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func bricksSource(p *result.Plan, prof *profile.Profile) string {
	if plannedFlags(p)["bricks"] == p.Bricks {
		return scenarioSource(p)
	}
	if p.Bricks == defaultBricks && prof.Name == defaultProfile {
		return "chosen to fit: the published figures do not say how many"
	}
	return "as started"
}

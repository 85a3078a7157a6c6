package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
)

// faultFlags say what is broken, and when.
func faultFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "fault", Usage: "break something in every level: `SPEC`; may be repeated"},
		&cli.StringFlag{Name: "scenario", Usage: "a measurement under a `NAME`, its faults included: " + scenarioNames()},
		&cli.Float64Flag{Name: "time-scale", Value: 1, Usage: "all times of the scenario so many times as long, such as 0.2"},
	}
}

func scenarioNames() string {
	var names []string
	for _, s := range chaos.Scenarios() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// faultsHelp describes all faults, for help texts.
func faultsHelp() string {
	var b strings.Builder
	b.WriteString(`

SPEC is KIND:TARGET[,NAME=VALUE]...@AT[+FOR]. TARGET is brick-N, or load for a surge; AT
counts from the end of the warm-up; without FOR the fault lasts to the end of the level.
Examples are kill:brick-2@10s+5s and surge:load,machines=34@10s+10s.
`)
	for _, k := range chaos.Kinds() {
		fmt.Fprintf(&b, "\n  %-10s %s", k, k.Summary())
	}
	return b.String()
}

// scenariosHelp describes all scenarios, for help texts.
func scenariosHelp() string {
	var b strings.Builder
	b.WriteString("\n\nScenarios. Flags that are given overrule what one stands for; a --fault comes on top.\n")
	for _, s := range chaos.Scenarios() {
		fmt.Fprintf(&b, "\n  %-14s %s:\n                 %s", s.Name, s.Summary, strings.Join(scenarioText(&s), " "))
	}
	return b.String()
}

// scenarioText is what a scenario stands for, as it would be given.
func scenarioText(s *chaos.Scenario) []string {
	flags := scenarioFlags(s)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		all = append(all, fmt.Sprintf("--%s %v", name, flags[name]))
	}
	if s.Watch {
		all = append(all, "--watch")
	}
	for _, f := range s.Faults {
		all = append(all, fmt.Sprintf("--fault %s", f))
	}
	return all
}

// The bounds of --time-scale.
const (
	leastScale = 0.01
	mostScale  = 100
)

// applyScenario gives the flags that are not given the values of the scenario.
func applyScenario(c *cli.Context) (s chaos.Scenario, err error) {
	scale := c.Float64("time-scale")
	switch {
	case !(scale >= leastScale && scale <= mostScale):
		return s, usagef("--time-scale: %v: choose %v to %v", scale, leastScale, mostScale)
	case !c.IsSet("scenario") && c.IsSet("time-scale"):
		return s, usagef("--time-scale: there is no --scenario whose times it could change")
	case !c.IsSet("scenario"):
		return s, nil
	}
	if s, err = chaos.ScenarioByName(c.String("scenario")); err != nil {
		return s, usagef("--scenario: %w", err)
	}
	s = s.Scaled(scale)
	for name, value := range scenarioFlags(&s) {
		if c.IsSet(name) {
			continue
		}
		if err := c.Set(name, fmt.Sprint(value)); err != nil {
			return s, fmt.Errorf("--scenario: %s: %w", name, err)
		}
	}
	return s, nil
}

// scenarioFlags are the flags that a scenario stands for, beside its faults.
func scenarioFlags(s *chaos.Scenario) map[string]any {
	flags := map[string]any{"machines": s.Machines, "duration": s.Duration, "protection": s.Protection}
	for name, value := range map[string]int{"threads": s.Threads, "bricks": s.Bricks, "r": s.R, "size": s.Size} {
		if value > 0 {
			flags[name] = value
		}
	}
	if s.Timeout > 0 {
		flags["timeout"] = s.Timeout
	}
	return flags
}

// plannedFlags are those of the scenario that a plan was made with; none without one.
func plannedFlags(p *result.Plan) map[string]any {
	s, err := chaos.ScenarioByName(p.Scenario)
	if err != nil {
		return nil
	}
	if p.TimeScale > 0 {
		s = s.Scaled(p.TimeScale)
	}
	return scenarioFlags(&s)
}

// planFaults adds the faults of the flags to those of the scenario.
func planFaults(c *cli.Context, p *result.Plan, s *chaos.Scenario) error {
	faults, err := chaos.ParseAll(slices.Concat(chaos.Specs(s.Faults), c.StringSlice("fault")))
	if err != nil {
		return usagef("--fault: %w", err)
	}
	if err := chaos.Check(s.Faults, p.Bricks, p.Duration); err != nil { // which a flag has made too short, or too small
		return usagef("--scenario %s: %w", s.Name, err)
	}
	if err := chaos.Check(faults, p.Bricks, p.Duration); err != nil {
		return usagef("--fault: %w", err)
	}
	if n := chaos.Surges(faults); n > 0 {
		most := p.Machines[len(p.Machines)-1] + n
		if most > loadgen.MaxMachines || most*p.Threads > maxUsers {
			return usagef("--fault: %d machines of %d users with those of the surge: choose at most %d machines, and %d users in all",
				most, p.Threads, loadgen.MaxMachines, maxUsers)
		}
	}
	p.Scenario = s.Name
	if scale := c.Float64("time-scale"); scale != 1 {
		p.TimeScale = scale
	}
	if len(faults) > 0 {
		p.Faults = chaos.Specs(faults)
	}
	return nil
}

// liveFaults refuses what only the simulator can break.
func liveFaults(faults []chaos.Fault) error {
	var missing []string
	for _, k := range chaos.Kinds() {
		if k != chaos.Surge && slices.ContainsFunc(faults, func(f chaos.Fault) bool { return f.Kind == k }) {
			missing = append(missing, string(k))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return usagef("--fault: %s: available in ssmctl sim; a live load knows %s", strings.Join(missing, ", "), chaos.Surge)
}

// scenarioSource says of a parameter that it is the scenario's.
func scenarioSource(p *result.Plan) string {
	if p.TimeScale > 0 {
		return fmt.Sprintf("scenario %s, times x %v", p.Scenario, p.TimeScale)
	}
	return "scenario " + p.Scenario
}

// faultParameters lists what a plan without faults does not have.
func faultParameters(p *result.Plan) []result.Parameter {
	if len(p.Faults) == 0 {
		return nil
	}
	source := "flag"
	if p.Scenario != "" {
		source = scenarioSource(p)
		if s, err := chaos.ScenarioByName(p.Scenario); err == nil && len(p.Faults) > len(s.Faults) {
			source += ", and flag"
		}
	}
	return []result.Parameter{{Name: "fault", Value: strings.Join(p.Faults, " "), Source: source}}
}

package main

import (
	"fmt"
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
		fmt.Fprintf(&b, "\n  %-10s %s:\n             --machines %s --duration %v --protection %s", s.Name, s.Summary, s.Machines, s.Duration, s.Protection)
		for _, f := range s.Faults {
			fmt.Fprintf(&b, " --fault %s", f)
		}
	}
	return b.String()
}

// applyScenario gives the flags that are not given the values of the scenario.
func applyScenario(c *cli.Context) (s chaos.Scenario, err error) {
	if !c.IsSet("scenario") {
		return s, nil
	}
	if s, err = chaos.ScenarioByName(c.String("scenario")); err != nil {
		return s, usagef("--scenario: %w", err)
	}
	for name, value := range scenarioFlags(s.Name) {
		if c.IsSet(name) {
			continue
		}
		if err := c.Set(name, fmt.Sprint(value)); err != nil {
			return s, fmt.Errorf("--scenario: %s: %w", name, err)
		}
	}
	return s, nil
}

// scenarioFlags are the flags that a scenario stands for, beside its faults; none for one
// that does not exist.
func scenarioFlags(name string) map[string]any {
	s, err := chaos.ScenarioByName(name)
	if err != nil {
		return nil
	}
	return map[string]any{"machines": s.Machines, "duration": s.Duration, "protection": s.Protection}
}

// planFaults adds the faults of the flags to those of the scenario.
func planFaults(c *cli.Context, p *result.Plan, s *chaos.Scenario) error {
	faults, err := chaos.ParseAll(slices.Concat(chaos.Specs(s.Faults), c.StringSlice("fault")))
	if err != nil {
		return usagef("--fault: %w", err)
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

// faultParameters lists what a plan without faults does not have.
func faultParameters(p *result.Plan) []result.Parameter {
	if len(p.Faults) == 0 {
		return nil
	}
	source := "flag"
	if p.Scenario != "" {
		source = "scenario " + p.Scenario
		if s, err := chaos.ScenarioByName(p.Scenario); err == nil && len(p.Faults) > len(s.Faults) {
			source += ", and flag"
		}
	}
	return []result.Parameter{{Name: "fault", Value: strings.Join(p.Faults, " "), Source: source}}
}

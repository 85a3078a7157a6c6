package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scenario is a measurement with its faults under a name. What it says of the plan is a
// default: flags that are given overrule it.
type Scenario struct {
	Name       string
	Summary    string        // one line, for help texts
	Machines   string        // LEVELS
	Duration   time.Duration // of a level, after the warm-up
	Protection string        // LIST
	Faults     []Fault
}

var scenarios = []Scenario{
	{
		Name:     "surge",
		Summary:  "6 machines; after 10s 34 more for 10s, 40 in all; then 6 again for 20s",
		Machines: "6", Duration: 40 * time.Second, Protection: "off,on",
		Faults: []Fault{{Kind: Surge, Machines: 34, At: 10 * time.Second, For: 10 * time.Second}},
	},
}

// Scenarios returns all scenarios, in the order in which help texts name them.
func Scenarios() []Scenario { return slices.Clone(scenarios) }

// ScenarioByName finds a scenario. The error names those there are.
func ScenarioByName(name string) (Scenario, error) {
	var names []string
	for _, s := range scenarios {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("%q is not a scenario: choose %s", name, strings.Join(names, ", "))
}

package main

import (
	"fmt"
	"strings"

	"github.com/ssmctl/ssmctl/internal/protect"
)

// planWords says what the words of the plan flags mean, for the help texts of load and sim.
const planWords = `LEVELS are 24, or 1,2,4, or 1-37, or 1-37:4 (in steps). At each level every
protection and policy is measured before the next level, with the same seed.
LIST is one or more with commas between them, such as off,on.
EXPR is [PROTECTION:]COLUMN OPERATOR NUMBER on a column of the CSV, such as
goodput_rps<1300 or on:p99_ms>55.`

// policiesHelp describes all policies, for help texts.
func policiesHelp() string {
	var b strings.Builder
	b.WriteString("\n\nPolicies. They matter where the protection has a window.\n")
	for _, p := range protect.Policies() {
		fmt.Fprintf(&b, "\n  %-10s %s", p.Name, p.Summary)
	}
	return b.String()
}

package result

import (
	"fmt"

	"github.com/ssmctl/ssmctl/internal/protect"
)

// Planned is one level of a plan under one setting: what becomes one row.
type Planned struct {
	Machines   int
	Protection string // empty: as found
	Policy     string
}

// Unfold returns all of a plan in the order measured: interleaved, at each level every
// protection and policy before the next level. With the window off the policies do not differ, and
// only the first is run.
func (p *Plan) Unfold() []Planned {
	protections := p.Protection
	if len(protections) == 0 {
		protections = []string{""}
	}
	var all []Planned
	for _, n := range p.Machines {
		for _, protection := range protections {
			policies := p.Policies
			if !protect.Windowed(protection) {
				policies = policies[:min(1, len(policies))]
			}
			for _, policy := range policies {
				all = append(all, Planned{Machines: n, Protection: protection, Policy: policy})
			}
		}
	}
	return all
}

// fits reports whether a row may be what became of it.
func (p *Planned) fits(r *Row) bool {
	return r.Machines == p.Machines && r.Policy == p.Policy &&
		(p.Protection == "" || r.Protection == p.Protection || r.Protection == Mixed)
}

func (p *Planned) String() string {
	s := fmt.Sprintf("machines %d, policy %s", p.Machines, p.Policy)
	if p.Protection != "" {
		s += ", protection " + p.Protection
	}
	return s
}

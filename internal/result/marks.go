package result

import (
	"cmp"
	"slices"
)

// The thresholds of the marks, as shares of the peak.
const (
	kneeShare = 0.95
	halfShare = 0.50
	zeroShare = 0.01
)

// nearShare is how far a level may lie from the one below it, as a share of that, for
// what is read off between them to be a measurement and not a guess.
const nearShare = 0.10

// Curve names the rows that belong together: goodput against load, all else equal.
type Curve struct {
	Run        string `json:"run"`
	Mode       string `json:"mode"`
	Policy     string `json:"policy"`
	Protection string `json:"protection"`
}

// Marks are the points of a curve that people compare. A nil mark was not reached
// at any level measured; nothing is extrapolated.
type Marks struct {
	Curve
	Peak         float64  `json:"peak_rps"`           // the highest goodput measured, per second
	PeakAlone    bool     `json:"peak_alone"`         // no level is near it on one side, so a higher one may have been missed
	PeakMachines int      `json:"peak_machines"`      // where; the smallest load of several
	Knee         *int     `json:"knee_machines"`      // at the first level with 95 % of the peak
	Half         *float64 `json:"half_machines"`      // at the first crossing of 50 % of the peak after it, linear between levels
	HalfBetween  *[2]int  `json:"half_between"`       // the loads of these two levels; nil with Half
	Zero         *int     `json:"zero_machines"`      // at the first level after the peak whose upper bound is below 1 % of it
	ZeroBetween  *[2]int  `json:"zero_between"`       // the loads of the level before it and of this one; nil with Zero
	FailedAtZero *float64 `json:"failed_rps_at_zero"` // failed attempts per second at that level
	LastMachines int      `json:"last_machines"`      // the highest load measured
	LastShare    float64  `json:"last_share_of_peak"` // goodput there over the peak; 0 if there is no peak
	Levels       int      `json:"levels"`             // rows that the marks rest on
	Weak         int      `json:"weak_levels"`        // of these, rows that are not steady or whose generator was not ok
}

// HalfFar reports whether the two levels between which goodput crossed half of the
// peak are so far apart that Half is hardly more than a guess.
func (m *Marks) HalfFar() bool {
	return m.HalfBetween != nil && far(m.HalfBetween[0], m.HalfBetween[1])
}

// ZeroFar reports whether the level before that of Zero is so far from it that goodput may have
// come to nothing much earlier.
func (m *Marks) ZeroFar() bool {
	return m.ZeroBetween != nil && far(m.ZeroBetween[0], m.ZeroBetween[1])
}

// far reports whether two loads leave one out between them, and are not near.
func far(a, b int) bool { return b-a > 1 && float64(b-a) > nearShare*float64(a) }

// Curves groups rows by their curve, each in order of rising load, in the order in
// which the curves first appear. Mixed rows belong to none.
func Curves(rows []Row) ([]Curve, [][]Row) {
	var curves []Curve
	var groups [][]Row
	index := make(map[Curve]int)
	for _, r := range rows {
		if r.Protection == Mixed {
			continue
		}
		c := Curve{Run: r.Run, Mode: r.Mode, Policy: r.Policy, Protection: r.Protection}
		i, ok := index[c]
		if !ok {
			i = len(curves)
			index[c] = i
			curves, groups = append(curves, c), append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b Row) int { return cmp.Compare(a.Machines, b.Machines) })
	}
	return curves, groups
}

// ComputeMarks returns the marks of every curve in the rows, in the order of Curves.
func ComputeMarks(rows []Row) []Marks {
	curves, groups := Curves(rows)
	marks := make([]Marks, len(curves))
	for i, c := range curves {
		marks[i] = curveMarks(c, groups[i])
	}
	return marks
}

func curveMarks(c Curve, rows []Row) Marks {
	m := Marks{Curve: c, Levels: len(rows)}
	peak := 0
	for i := range rows {
		if rows[i].Goodput() > rows[peak].Goodput() {
			peak = i
		}
		if rows[i].Weak() {
			m.Weak++
		}
	}
	last := rows[len(rows)-1]
	m.Peak, m.PeakMachines, m.LastMachines = rows[peak].Goodput(), rows[peak].Machines, last.Machines
	if m.Peak == 0 {
		return m
	}
	m.LastShare = last.Goodput() / m.Peak
	m.PeakAlone = alone(rows, m.PeakMachines)
	for i := range rows[:peak+1] {
		if rows[i].Goodput() >= kneeShare*m.Peak {
			m.Knee = &rows[i].Machines
			break
		}
	}
	for i := peak + 1; i < len(rows); i++ {
		r := &rows[i]
		if m.Half == nil && r.Goodput() <= halfShare*m.Peak {
			half := crossing(&rows[i-1], r, halfShare*m.Peak)
			m.Half, m.HalfBetween = &half, &[2]int{rows[i-1].Machines, r.Machines}
		}
		if r.Goodput()+r.GoodputCI95 < zeroShare*m.Peak {
			failed := r.Failed()
			m.Zero, m.ZeroBetween, m.FailedAtZero = &r.Machines, &[2]int{rows[i-1].Machines, r.Machines}, &failed
			break
		}
	}
	return m
}

// crossing interpolates the load at which goodput falls to the target between a
// level above it and the next, which is not.
func crossing(above, below *Row, target float64) float64 {
	share := (above.Goodput() - target) / (above.Goodput() - below.Goodput())
	return float64(above.Machines) + share*float64(below.Machines-above.Machines)
}

// alone reports whether the next lower load measured, or the next higher, is far from
// this one. A load of one has none below it; the highest measured may have any above.
func alone(rows []Row, machines int) bool {
	below, above := 0, 0
	for i := range rows {
		switch n := rows[i].Machines; {
		case n < machines:
			below = n
		case n > machines && above == 0:
			above = n
		}
	}
	return above == 0 || far(below, machines) || far(machines, above)
}

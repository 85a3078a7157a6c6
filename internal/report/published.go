package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

// publishedSource names where the published marks are from.
const publishedSource = "SSM (Ling, Kiciman and Fox, NSDI 2004), Figures 8 and 9"

// calibrated is the profile that emulates the published testbed.
const calibrated = "nsdi04"

// published are the marks read off the figures; zero where nothing was published.
var published = map[string]figures{
	protect.Off.String(): {peak: 1900, half: 13, zero: 14, failed: 1500}, // Figure 8
	protect.On.String():  {peak: 1900, half: 24, zero: 37},               // Figure 9; it "trends to zero"
}

// figures are the comparable marks of one curve. Zero is not reached, or not published.
type figures struct{ peak, half, zero, failed float64 }

func measuredFigures(m *result.Marks) figures {
	f := figures{peak: m.Peak}
	if m.Half != nil {
		f.half = *m.Half
	}
	if m.Zero != nil {
		f.zero, f.failed = float64(*m.Zero), *m.FailedAtZero
	}
	return f
}

// Published sets the marks beside those of Figures 8 and 9. Curves that are neither on
// nor off have no counterpart; without any that is, the error is an *Error.
func Published(w io.Writer, runs []*result.Run) error {
	notes := &footnotes{}
	grids, titles, err := publishedGrids(runs, notes)
	if err != nil {
		return err
	}
	for i, g := range grids {
		if _, err := fmt.Fprintf(w, "%s\n\n", titles[i]); err != nil {
			return err
		}
		if err := g.Write(w); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	if err := notes.write(w); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "published: %s\n%s\n", publishedSource, publishedCaveat(runs))
	return err
}

func publishedCaveat(runs []*result.Run) string {
	for _, r := range runs {
		if len(r.Manifest.Plan.Faults) > 0 {
			return "there are faults within the levels of " + r.Manifest.Run + ", and there were none in the published ones"
		}
		if r.Manifest.Profile.Name != calibrated {
			return "not every run emulates the published testbed (profile " + calibrated + "): compare shapes and on/off ratios, not rates"
		}
	}
	return "profile " + calibrated + " emulates the published testbed; docs/verdicts.md says which of its parameters were fitted to these figures"
}

// publishedGrids returns a table for each run and policy.
func publishedGrids(runs []*result.Run, notes *footnotes) ([]*Grid, []string, error) {
	if _, err := allMarks(runs); err != nil {
		return nil, nil, err
	}
	var grids []*Grid
	var titles []string
	for _, r := range runs {
		marks := result.ComputeMarks(r.Rows)
		for _, pair := range pairs(marks) {
			grids = append(grids, publishedGrid(pair.off, pair.on, notes))
			titles = append(titles, fmt.Sprintf("%s: %s, profile %s (%s), policy %s",
				r.Manifest.Run, r.Manifest.Mode, r.Manifest.Profile.Name, r.Manifest.Profile.Processor.Kind, pair.policy))
		}
	}
	if len(grids) == 0 {
		return nil, nil, &Error{
			Problem: "nothing to compare with the published figures",
			Hint:    "measure with --protection off,on",
		}
	}
	return grids, titles, nil
}

// onOff is one policy's curves; either may be nil.
type onOff struct {
	policy  string
	off, on *result.Marks
}

// pairs finds each policy's two curves. With the window off the policy is idle, so
// any unprotected curve serves a policy that has none of its own.
func pairs(marks []result.Marks) []onOff {
	var all []onOff
	var anyOff *result.Marks
	for i := range marks {
		m := &marks[i]
		if _, ok := published[m.Protection]; !ok {
			continue
		}
		at := slices.IndexFunc(all, func(p onOff) bool { return p.policy == m.Policy })
		if at < 0 {
			at = len(all)
			all = append(all, onOff{policy: m.Policy})
		}
		if m.Protection == protect.On.String() {
			all[at].on = m
			continue
		}
		all[at].off = m
		if anyOff == nil {
			anyOff = m
		}
	}
	for i := range all {
		if all[i].off == nil {
			all[i].off = anyOff
		}
	}
	return all
}

// comparison is a line of the table: one mark of both curves.
type comparison struct {
	name string
	of   func(figures) float64
	show func(float64) string
	// judge returns a curve's mark as it is shown, with the number of what to know of it,
	// and the number alone if there is to be no ratio; nil is to show it plainly.
	judge func(m *result.Marks, notes *footnotes) (text, noRatio string)
}

var comparisons = []comparison{
	{"peak, /s", func(f figures) float64 { return f.peak }, rate, judgePeak},
	{"half, machines", func(f figures) float64 { return f.half }, one, judgeHalf},
	{"zero, machines", func(f figures) float64 { return f.zero }, rate, judgeZero},
	{"failed at zero, /s", func(f figures) float64 { return f.failed }, rate, judgeFailed},
}

func judgePeak(m *result.Marks, notes *footnotes) (text, noRatio string) {
	text = rate(m.Peak)
	if m.PeakAlone {
		text += " " + notes.number(peakAlone)
	}
	return text, ""
}

func judgeHalf(m *result.Marks, notes *footnotes) (text, noRatio string) {
	if m.HalfFar() {
		noRatio = notes.number(halfFar)
	}
	return half(m), noRatio
}

func judgeZero(m *result.Marks, notes *footnotes) (text, noRatio string) {
	if m.ZeroFar() {
		noRatio = notes.number(zeroFar)
	}
	return zero(m), noRatio
}

// judgeFailed: the failures are those of whatever level was the first at zero.
func judgeFailed(m *result.Marks, notes *footnotes) (text, noRatio string) {
	_, noRatio = judgeZero(m, notes)
	return reached(m.FailedAtZero, rate), noRatio
}

func publishedGrid(off, on *result.Marks, notes *footnotes) *Grid {
	g := &Grid{
		Header: []string{
			"mark", "off\nmeasured", "off\npublished", "off\nratio", "on\nmeasured", "on\npublished", "on\nratio",
			"on/off\nmeasured", "on/off\npublished",
		},
		Left: []bool{true},
	}
	pubOff, pubOn := published[protect.Off.String()], published[protect.On.String()]
	for i := range comparisons {
		c := &comparisons[i]
		a, b := c.side(off, notes), c.side(on, notes)
		pubA, pubB := c.of(pubOff), c.of(pubOn)
		g.Add(c.name, a.text, shown(pubA, c.show), a.over(side{value: pubA}), b.text, shown(pubB, c.show), b.over(side{value: pubB}),
			b.over(a), quotient(pubB, pubA))
	}
	return g
}

// side is one curve's mark in a comparison.
type side struct {
	value   float64 // 0 if there is none
	text    string
	noRatio string // the number of why there is to be no ratio; empty if there may be
}

// side returns a curve's mark; nil is a curve that was not measured.
func (c *comparison) side(m *result.Marks, notes *footnotes) side {
	if m == nil {
		return side{text: "not measured"}
	}
	s := side{value: c.of(measuredFigures(m)), text: notReached}
	switch {
	case s.value == 0:
	case c.judge == nil:
		s.text = c.show(s.value)
	default:
		s.text, s.noRatio = c.judge(m, notes)
	}
	return s
}

// over shows the ratio of two sides, or the number of why there is none.
func (s side) over(other side) string {
	for _, why := range []string{s.noRatio, other.noRatio} {
		if why != "" && s.value != 0 && other.value != 0 {
			return missing + " " + why
		}
	}
	return quotient(s.value, other.value)
}

func shown(x float64, show func(float64) string) string {
	if x == 0 {
		return missing
	}
	return show(x)
}

func quotient(a, b float64) string {
	if a == 0 || b == 0 {
		return missing
	}
	return decimal(a/b, 2)
}

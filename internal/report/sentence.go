package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

// Shares of a peak that decide between words.
const (
	holdsShare = 0.95 // at or above it goodput has not fallen
	stillShare = 0.50 // at or above it "still" is fair
)

// sentenceOf is the Sentence of a run, and what to know of it.
func sentenceOf(r *result.Run) string {
	s := Sentence(r.Rows)
	if len(r.Manifest.Plan.Faults) > 0 {
		s += " These are means of whole levels, with their faults in them."
	}
	return s
}

// Sentence says what the rows of one run mean. Every figure in it is that of a row.
func Sentence(rows []result.Row) string {
	curves, groups := result.Curves(rows)
	if len(curves) == 0 {
		return mixedOnly(rows)
	}
	marks := result.ComputeMarks(rows)
	baseline := slices.IndexFunc(curves, func(c result.Curve) bool { return c.Protection == protect.Off.String() })
	var clauses []string
	if baseline >= 0 {
		clauses = append(clauses, "without protection "+course(groups[baseline], marks[baseline]))
	}
	for i, c := range curves {
		if c.Protection == protect.Off.String() {
			continue // a second one under another policy measures the same thing
		}
		clause := condition(c, curves)
		if baseline >= 0 && marks[baseline].Half != nil {
			clause += contrast(groups[i], marks[i], lowPoint(groups[baseline], marks[baseline]), marks[baseline].Peak)
		} else {
			clause += " " + course(groups[i], marks[i])
		}
		clauses = append(clauses, clause)
	}
	s := strings.Join(clauses, "; ") + caveats(rows)
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

func mixedOnly(rows []result.Row) string {
	if len(rows) == 0 {
		return "Nothing was measured."
	}
	low, high := rows[0].Goodput(), rows[0].Goodput()
	for i := range rows {
		low, high = min(low, rows[i].Goodput()), max(high, rows[i].Goodput())
	}
	within, goodput := "every level", fmt.Sprintf("lies between %s and %s", perSecond(low), perSecond(high))
	if len(rows) == 1 {
		within = "the one level"
	}
	if perSecond(low) == perSecond(high) {
		goodput = "is " + perSecond(low)
	}
	return fmt.Sprintf("The protection changed within %s, so there is no curve: goodput %s.", within, goodput)
}

// condition names a protected curve, by no more than tells it from the others.
func condition(c result.Curve, curves []result.Curve) string {
	policies := make(map[string]bool)
	off := false
	for _, other := range curves {
		if windowed(other.Protection) {
			policies[other.Policy] = true
		}
		off = off || other.Protection == protect.Off.String()
	}
	several := len(policies) > 1
	switch {
	case c.Protection == protect.DiscardOnly.String():
		return "with the discard alone"
	case c.Protection == protect.CoDelOnly.String():
		return "with codel alone"
	case c.Protection == protect.WindowCoDel.String() && several:
		return "with the window of " + c.Policy + " and codel"
	case c.Protection == protect.WindowCoDel.String():
		return "with the window and codel"
	case c.Protection == protect.WindowOnly.String() && several:
		return "with the window of " + c.Policy + " alone"
	case c.Protection == protect.WindowOnly.String():
		return "with the window alone"
	case several:
		return "with " + c.Policy
	case off:
		return "with it"
	default:
		return "with protection (" + c.Policy + ")"
	}
}

// course tells how goodput goes along a curve.
func course(rows []result.Row, m result.Marks) string {
	first, last := &rows[0], &rows[len(rows)-1]
	switch {
	case len(rows) == 1:
		return "goodput is " + at(first)
	case m.Peak == 0:
		return "goodput is 0 at all levels " + span(first.Machines, last.Machines)
	}
	peak := peakRow(rows)
	if peak == last {
		low := lowest(rows)
		if low.Goodput() >= holdsShare*m.Peak {
			return fmt.Sprintf("goodput is %s and %s", at(first), short(last))
		}
		return fmt.Sprintf("goodput rises from %s to %s", at(low), short(last))
	}
	low := lowPoint(rows, m)
	switch {
	case low.Goodput() >= holdsShare*m.Peak:
		return fmt.Sprintf("goodput peaks with %s and is still %s", at(peak), short(last))
	case m.Zero != nil:
		return fmt.Sprintf("goodput collapses from %s to %s", at(peak), short(low)) + recovery(low, last, m.Peak)
	case m.Half != nil:
		return fmt.Sprintf("goodput falls from %s to %s", at(peak), short(low)) + recovery(low, last, m.Peak)
	default:
		return fmt.Sprintf("goodput sags from %s to %s", at(peak), short(low)) + recovery(low, last, m.Peak)
	}
}

// span names the loads from the lowest to the highest.
func span(first, last int) string {
	if first == last {
		return "of " + plural(last, "machine")
	}
	return fmt.Sprintf("from %d to %s", first, plural(last, "machine"))
}

// contrast tells what a protected curve gives where the unprotected one has fallen, and
// at the highest load; where that was not measured, it tells the curve's course.
func contrast(rows []result.Row, m result.Marks, fallen *result.Row, peak float64) string {
	i := slices.IndexFunc(rows, func(r result.Row) bool { return r.Machines == fallen.Machines })
	if i < 0 {
		return " " + course(rows, m)
	}
	get := func(r *result.Row) string {
		if r.Machines == 1 {
			return "gets " + perSecond(r.Goodput())
		}
		return "get " + perSecond(r.Goodput())
	}
	still := ""
	if rows[i].Goodput() >= stillShare*peak {
		still = "still "
	}
	s := fmt.Sprintf(", %s %s%s", plural(rows[i].Machines, "machine"), still, get(&rows[i]))
	if last := &rows[len(rows)-1]; last.Machines > rows[i].Machines {
		s += fmt.Sprintf(" and %d %s", last.Machines, get(last))
	}
	return s
}

// recovery adds the last level if goodput is back by then.
func recovery(low, last *result.Row, peak float64) string {
	if last.Goodput()-low.Goodput() < (1-holdsShare)*peak {
		return ""
	}
	return " and is back at " + short(last)
}

// caveats counts the rows that are to be read with care.
func caveats(rows []result.Row) string {
	weak, mixed := 0, 0
	for i := range rows {
		if rows[i].Protection == result.Mixed {
			mixed++
		} else if rows[i].Weak() {
			weak++
		}
	}
	s := ""
	if weak > 0 {
		s += fmt.Sprintf("; weak: %d of %s, see the notes", weak, plural(len(rows), "level"))
	}
	if mixed > 0 {
		s += fmt.Sprintf("; left out, as the protection changed within: %s", plural(mixed, "level"))
	}
	return s
}

func peakRow(rows []result.Row) *result.Row {
	peak := &rows[0]
	for i := range rows {
		if rows[i].Goodput() > peak.Goodput() {
			peak = &rows[i]
		}
	}
	return peak
}

func lowest(rows []result.Row) *result.Row {
	low := &rows[0]
	for i := range rows {
		if rows[i].Goodput() < low.Goodput() {
			low = &rows[i]
		}
	}
	return low
}

// lowPoint is where a curve that has a peak before its end has fallen to: the level
// of its zero, or the lowest after the peak.
func lowPoint(rows []result.Row, m result.Marks) *result.Row {
	after := slices.IndexFunc(rows, func(r result.Row) bool { return r.Goodput() == m.Peak }) + 1
	low := lowest(rows[after:])
	for i := range rows[after:] {
		if m.Zero != nil && rows[after+i].Machines == *m.Zero {
			return &rows[after+i]
		}
	}
	return low
}

func perSecond(x float64) string {
	if s := rate(x); s != "0" {
		return s + "/s"
	}
	return "0"
}

// at names a level's goodput and load; short leaves out the word machines.
func at(r *result.Row) string {
	return perSecond(r.Goodput()) + " at " + plural(r.Machines, "machine")
}

func short(r *result.Row) string { return fmt.Sprintf("%s at %d", perSecond(r.Goodput()), r.Machines) }

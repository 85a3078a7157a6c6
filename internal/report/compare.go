package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/ssmctl/ssmctl/internal/result"
)

// Pair is one level measured in two runs.
type Pair struct {
	A, B *result.Row
	// Ratio is B's goodput over A's, CI95 the half-width of its interval. Both are NaN
	// if A's goodput is zero.
	Ratio, CI95 float64
}

// Differ reports whether the interval leaves out 1.
func (p *Pair) Differ() bool { return math.Abs(p.Ratio-1) > p.CI95 }

// cell is what two levels must share to be compared.
type cell struct {
	machines           int
	protection, policy string
}

func cellOf(r *result.Row) cell {
	c := cell{machines: r.Machines, protection: r.Protection, policy: r.Policy}
	if !windowed(r.Protection) {
		c.policy = "" // idle
	}
	return c
}

// Match pairs the levels of two runs, the nth of a kind with the nth, in a's order, and
// counts those without a counterpart. The interval of a ratio is that of the
// quotient of two independent means, to first order.
func Match(a, b []result.Row) (pairs []Pair, onlyA, onlyB int) {
	waiting := make(map[cell][]*result.Row)
	for i := range b {
		c := cellOf(&b[i])
		waiting[c] = append(waiting[c], &b[i])
	}
	for i := range a {
		c := cellOf(&a[i])
		if len(waiting[c]) == 0 {
			onlyA++
			continue
		}
		pairs = append(pairs, pairOf(&a[i], waiting[c][0]))
		waiting[c] = waiting[c][1:]
	}
	return pairs, onlyA, len(b) - len(pairs)
}

func pairOf(a, b *result.Row) Pair {
	p := Pair{A: a, B: b, Ratio: math.NaN(), CI95: math.NaN()}
	if ga, gb := a.Goodput(), b.Goodput(); ga > 0 {
		p.Ratio = gb / ga
		// d(gb/ga) = dgb/ga - gb/ga^2 dga; defined also for a gb of zero.
		p.CI95 = math.Hypot(b.GoodputCI95/ga, gb/ga*a.GoodputCI95/ga)
	}
	return p
}

// Compare sets run b beside run a, level by level, and their marks. Without a level
// in common the error is an *Error.
func Compare(w io.Writer, a, b *result.Run) error {
	pairs, onlyA, onlyB := Match(a.Rows, b.Rows)
	if len(pairs) == 0 {
		return &Error{
			Problem: fmt.Sprintf("runs %s and %s have no level in common", a.Manifest.Run, b.Manifest.Run),
			Hint:    "choose runs that share machines, protection and policy",
		}
	}
	if _, err := fmt.Fprintf(w, "A  %s\nB  %s\n\n", describe(a), describe(b)); err != nil {
		return err
	}
	notes := &footnotes{}
	if err := pairGrid(pairs, notes).Write(w); err != nil {
		return err
	}
	if err := notes.write(w); err != nil {
		return err
	}
	if onlyA+onlyB > 0 {
		if _, err := fmt.Fprintf(w, "without a counterpart: %s of A, %s of B\n", plural(onlyA, "level"), plural(onlyB, "level")); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := marksDifference(result.ComputeMarks(a.Rows), result.ComputeMarks(b.Rows), notes).Write(w); err != nil {
		return err
	}
	return notes.write(w)
}

func pairGrid(pairs []Pair, notes *footnotes) *Grid {
	g := &Grid{
		Header: []string{
			"machines", "protection", "policy", "A goodput\n/s", "±95%\n/s", "B goodput\n/s", "±95%\n/s",
			"B/A", "±95%", "differ", "notes",
		},
		Left: []bool{1: true, 2: true, 9: true, 10: true},
	}
	for i := range pairs {
		p := &pairs[i]
		ratio, ci, differ := missing, missing, missing
		if !math.IsNaN(p.Ratio) {
			ratio, ci, differ = decimal(p.Ratio, 3), decimal(p.CI95, 3), either(p.Differ(), "yes")
		}
		policy := p.A.Policy
		if !windowed(p.A.Protection) {
			policy = missing
		}
		g.Add(
			fmt.Sprint(p.A.Machines), p.A.Protection, policy, rate(p.A.Goodput()), rate(p.A.GoodputCI95),
			rate(p.B.Goodput()), rate(p.B.GoodputCI95), ratio, ci, differ, pairNotes(p, notes),
		)
	}
	return g
}

func pairNotes(p *Pair, notes *footnotes) string {
	s := ""
	for _, text := range rowNotes(p.A) {
		s += notes.number("A: " + text)
	}
	for _, text := range rowNotes(p.B) {
		s += notes.number("B: " + text)
	}
	return s
}

// marksDifference has three lines for each curve of a that b has too.
func marksDifference(a, b []result.Marks, notes *footnotes) *Grid {
	g := &Grid{
		Header: []string{"protection", "policy", "", "peak\n/s", "knee\nmachines", "half\nmachines", "zero\nmachines", "last\n% of peak", "notes"},
		Left:   []bool{0: true, 1: true, 2: true, 8: true},
	}
	line := func(which string, m *result.Marks) {
		g.Add(m.Protection, m.Policy, which, rate(m.Peak), reached(m.Knee, strconv.Itoa), half(m),
			zero(m), decimal(100*m.LastShare, 1), marksNotes(m, notes))
	}
	for i := range a {
		for j := range b {
			if a[i].Protection != b[j].Protection || (windowed(a[i].Protection) && a[i].Policy != b[j].Policy) {
				continue
			}
			line("A", &a[i])
			line("B", &b[j])
			g.Add("", "", "B-A", decimal(b[j].Peak-a[i].Peak, 0), difference(a[i].Knee, b[j].Knee),
				halves(&a[i], &b[j]), zeros(&a[i], &b[j]), decimal(100*(b[j].LastShare-a[i].LastShare), 1), "")
			break
		}
	}
	return g
}

// halves is the difference of two halves; guesses have none.
func halves(a, b *result.Marks) string {
	if a.HalfFar() || b.HalfFar() {
		return missing
	}
	return difference(a.Half, b.Half)
}

// zeros is that of two zeros.
func zeros(a, b *result.Marks) string {
	if a.ZeroFar() || b.ZeroFar() {
		return missing
	}
	return difference(a.Zero, b.Zero)
}

func difference[T int | float64](a, b *T) string {
	if a == nil || b == nil {
		return missing
	}
	return strconv.FormatFloat(math.Round(10*float64(*b-*a))/10, 'f', -1, 64)
}

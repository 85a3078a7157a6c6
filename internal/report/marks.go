package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ssmctl/ssmctl/internal/result"
)

// MarksHeader is the first line of the marks' CSV, which scripts depend on.
const MarksHeader = "run,mode,policy,protection,peak_rps,knee_machines,half_machines,zero_machines," +
	"last_machines,last_share_of_peak,failed_rps_at_zero"

// allMarks returns the marks of every curve of all runs. None at all is an *Error.
func allMarks(runs []*result.Run) ([]result.Marks, error) {
	rows, err := allRows(runs)
	if err != nil {
		return nil, err
	}
	marks := result.ComputeMarks(rows)
	if len(marks) == 0 {
		return nil, &Error{
			Problem: "no marks: the protection changed within every level",
			Hint:    "measure with --protection, or leave it alone while a level runs",
		}
	}
	return marks, nil
}

// Marks renders a line for each curve.
func Marks(w io.Writer, runs []*result.Run) error {
	marks, err := allMarks(runs)
	if err != nil {
		return err
	}
	notes := &footnotes{}
	if err := marksGrid(marks, notes).Write(w); err != nil {
		return err
	}
	return notes.write(w)
}

func marksGrid(marks []result.Marks, notes *footnotes) *Grid {
	g := &Grid{
		Header: []string{
			"run", "mode", "policy", "protection", "peak\n/s", "peak at\nmachines", "knee\nmachines", "half\nmachines",
			"zero\nmachines", "failed at\nzero /s", "last\nmachines", "last\n% of peak", "weak\nlevels", "notes",
		},
		Left: []bool{0: true, 1: true, 2: true, 3: true, 13: true},
	}
	for i := range marks {
		m := &marks[i]
		g.Add(
			m.Run, m.Mode, m.Policy, m.Protection, rate(m.Peak), fmt.Sprint(m.PeakMachines),
			reached(m.Knee, strconv.Itoa), half(m), zero(m),
			reached(m.FailedAtZero, rate), fmt.Sprint(m.LastMachines), decimal(100*m.LastShare, 1),
			fmt.Sprintf("%d of %d", m.Weak, m.Levels), marksNotes(m, notes),
		)
	}
	return g
}

// What to know of marks that the choice of levels made coarse.
const (
	peakAlone = "peak: the highest of the levels measured, with few near it: measure levels around it"
	halfFar   = "half: interpolated between levels far apart: measure levels in between"
	zeroFar   = "zero: the first level measured there, far from the one before it: measure levels in between"
)

func marksNotes(m *result.Marks, notes *footnotes) string {
	s := ""
	if m.PeakAlone {
		s += notes.number(peakAlone)
	}
	if m.HalfFar() {
		s += notes.number(halfFar)
	}
	if m.ZeroFar() {
		s += notes.number(zeroFar)
	}
	return s
}

// half shows the mark, and the levels that it lies between if these are far apart.
func half(m *result.Marks) string {
	s := reached(m.Half, one)
	if m.HalfFar() {
		s += fmt.Sprintf(" (%d-%d)", m.HalfBetween[0], m.HalfBetween[1])
	}
	return s
}

// zero does likewise.
func zero(m *result.Marks) string {
	s := reached(m.Zero, strconv.Itoa)
	if m.ZeroFar() {
		s += fmt.Sprintf(" (%d-%d)", m.ZeroBetween[0], m.ZeroBetween[1])
	}
	return s
}

func one(x float64) string { return decimal(x, 1) }

// reached shows a mark, or that it was not reached.
func reached[T any](mark *T, show func(T) string) string {
	if mark == nil {
		return notReached
	}
	return show(*mark)
}

// MarksCSV renders the marks under their fixed header; what was not reached is empty.
func MarksCSV(w io.Writer, runs []*result.Run) error {
	marks, err := allMarks(runs)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	records := [][]string{strings.Split(MarksHeader, ",")}
	for i := range marks {
		m := &marks[i]
		records = append(records, []string{
			m.Run, m.Mode, m.Policy, m.Protection, three(m.Peak),
			optional(m.Knee, strconv.Itoa), optional(m.Half, three), optional(m.Zero, strconv.Itoa),
			strconv.Itoa(m.LastMachines), three(m.LastShare), optional(m.FailedAtZero, three),
		})
	}
	return out.WriteAll(records)
}

func three(x float64) string { return decimal(x, 3) }

func optional[T any](mark *T, show func(T) string) string {
	if mark == nil {
		return ""
	}
	return show(*mark)
}

// MarksJSON renders the marks as an array of objects; what was not reached is null.
func MarksJSON(w io.Writer, runs []*result.Run) error {
	marks, err := allMarks(runs)
	if err != nil {
		return err
	}
	return writeJSON(w, marks)
}

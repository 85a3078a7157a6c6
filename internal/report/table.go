package report

import (
	"fmt"
	"io"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Table renders each run's levels, a line for each, in the order measured. Above
// stands how the run was made, below what to know of marked lines, what faults did, and
// the run's Sentence.
func Table(w io.Writer, runs []*result.Run) error {
	if _, err := allRows(runs); err != nil {
		return err
	}
	for i, r := range runs {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := runTable(w, r); err != nil {
			return err
		}
	}
	return nil
}

func runTable(w io.Writer, r *result.Run) error {
	if _, err := fmt.Fprintf(w, "%s\n\n", describe(r)); err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		_, err := fmt.Fprintln(w, "no level yet")
		return err
	}
	notes := &footnotes{}
	if err := levelGrid(r.Rows, notes).Write(w); err != nil {
		return err
	}
	if err := notes.write(w); err != nil {
		return err
	}
	if err := writeAudit(w, r); err != nil {
		return err
	}
	if err := writeFaults(w, r); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", sentenceOf(r))
	return err
}

// levelGrid has the columns a person needs; the CSV has all.
func levelGrid(rows []result.Row, notes *footnotes) *Grid {
	g := &Grid{
		Header: []string{
			"machines", "users", "protection", "policy", "offered\n/s", "goodput\n/s", "±95%\n/s",
			"timeout\n/s", "rejected\n/s", "refused\n+error/s", "late\n/s", "p50\nms", "p99\nms",
			"copies\nsent/acked", "fairness", "wrong", "lost", "steady", "generator", "notes",
		},
		Left: []bool{2: true, 3: true, 17: true, 18: true, 19: true},
	}
	for i := range rows {
		r := &rows[i]
		policy := r.Policy
		if !windowed(r.Protection) {
			policy = missing
		}
		g.Add(
			fmt.Sprint(r.Machines), fmt.Sprint(r.Users), r.Protection, policy,
			rate(r.Offered), rate(r.Goodput()), rate(r.GoodputCI95),
			rate(r.Rates[session.Timeout]), rate(r.Rates[session.Rejected]),
			rate(r.Rates[session.Refused]+r.Rates[session.Error]), rate(r.Late),
			latency(r.Latency.P50), latency(r.Latency.P99), copies(r), fairness(r),
			fmt.Sprint(r.Wrong), fmt.Sprint(r.Lost), either(r.Steady.OK, "yes"), either(r.GeneratorOK.OK, "ok"), notes.marks(r),
		)
	}
	return g
}

// fairness shows the index, or nothing where nothing was shared.
func fairness(r *result.Row) string {
	if !r.FairnessKnown() {
		return missing
	}
	return decimal(r.Fairness, 3)
}

// copies shows to how many bricks a write went, and how many acknowledged one that
// was acknowledged.
func copies(r *result.Row) string {
	shown := func(x float64) string {
		if x == 0 {
			return missing
		}
		return decimal(x, 2)
	}
	if r.CopiesPerWrite == 0 {
		return missing
	}
	return shown(r.CopiesPerWrite) + "/" + shown(r.AckedPerWrite)
}

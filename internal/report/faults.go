package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

// faultsLegend says what the columns of the faults' table mean; see result.Recoveries.
const faultsLegend = "before: goodput between the warm-up and the first fault; lowest, failed: in the seconds that the fault touches; " +
	"back: from when on, since the fault's end, every three seconds together reach 95 % of before"

// faultRow is what one fault did to one level.
type faultRow struct {
	row   *result.Row
	fault chaos.Fault
	span  result.Span
	found *time.Duration // by the watch, since the fault's begin; nil if it was not
	result.Recovery
}

// faultRows has those of all levels of a run, level by level.
func faultRows(r *result.Run) ([]faultRow, error) {
	faults, err := chaos.ParseAll(r.Manifest.Plan.Faults)
	if err != nil {
		return nil, fmt.Errorf("run %s: its plan has a fault that this build does not know: %w", r.Manifest.Run, err)
	}
	if len(faults) == 0 {
		return nil, nil
	}
	levels := levelSeconds(r)
	var all []faultRow
	for i := range r.Rows {
		spans, found := spansOf(r, i, faults)
		for k, recovery := range result.Recoveries(levels[i], spans) {
			all = append(all, faultRow{row: &r.Rows[i], fault: faults[k], span: spans[k], found: found[k], Recovery: recovery})
		}
	}
	return all, nil
}

// spansOf says when the faults of a level were there, which a repair may have cut short, and
// how long after the begin of each its target was found to be at fault.
func spansOf(r *result.Run, level int, faults []chaos.Fault) ([]result.Span, []*time.Duration) {
	spans, found := make([]result.Span, len(faults)), make([]*time.Duration, len(faults))
	for i, f := range faults {
		spans[i] = result.Span{From: f.At, Till: f.Ends(r.Manifest.Plan.Duration)}
		for _, e := range r.Events {
			at := time.Duration(e.Second * float64(time.Second))
			switch {
			case e.Level != level || e.Who != f.Target():
			case e.Kind == "fault-over" && e.What == f.String() && at > f.At:
				spans[i].Till = min(spans[i].Till, at)
			case e.Kind == "alarm" && at >= f.At && at <= f.Ends(r.Manifest.Plan.Duration) && found[i] == nil:
				after := at - f.At
				found[i] = &after
			}
		}
	}
	return spans, found
}

// levelSeconds splits a run's series up by level.
func levelSeconds(r *result.Run) [][]result.Second {
	levels := make([][]result.Second, len(r.Rows))
	for _, s := range r.Seconds {
		if s.Level >= 0 && s.Level < len(levels) {
			levels[s.Level] = append(levels[s.Level], s)
		}
	}
	return levels
}

func faultGrid(rows []faultRow, watched bool) *Grid {
	g := &Grid{
		Header: []string{
			"machines", "protection", "policy", "fault", "before\n/s", "lowest\n/s", "failed\nduring", "of these\nrejected", "back\nafter",
		},
		Left: []bool{1: true, 2: true, 3: true, 8: true},
	}
	if watched {
		g.Header = append(g.Header, "found\nafter")
	}
	for i := range rows {
		f := &rows[i]
		before, lowest, failed, rejected, back := missing, missing, missing, missing, f.Why
		if f.Before != nil {
			before = rate(*f.Before)
		}
		if f.Begun {
			lowest, failed, rejected = rate(f.Lowest), grouped(f.Failed), grouped(f.Rejected)
		}
		if f.Back != nil {
			back = decimal(f.Back.Seconds(), -1) + " s"
		}
		policy := f.row.Policy
		if !protect.Windowed(f.row.Protection) {
			policy = missing
		}
		cells := []string{fmt.Sprint(f.row.Machines), f.row.Protection, policy, f.fault.String(), before, lowest, failed, rejected, back}
		if watched {
			found := missing
			if f.found != nil {
				found = decimal(f.found.Seconds(), -1) + " s"
			}
			cells = append(cells, found)
		}
		g.Add(cells...)
	}
	return g
}

// writeFaults renders the faults' table, if the run has any.
func writeFaults(w io.Writer, r *result.Run) error {
	rows, err := faultRows(r)
	if err != nil || len(rows) == 0 {
		return err
	}
	if _, err := fmt.Fprint(w, "\nFaults\n\n"); err != nil {
		return err
	}
	if err := faultGrid(rows, r.Manifest.Plan.Watch).Write(w); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, faultsLegend)
	return err
}

// describeFaults says what of a plan is broken, after a comma.
func describeFaults(p *result.Plan) string {
	switch {
	case len(p.Faults) == 0:
		return ""
	case p.Scenario != "":
		return fmt.Sprintf(", scenario %s (%s)", p.Scenario, strings.Join(p.Faults, " "))
	}
	return ", with " + strings.Join(p.Faults, " ")
}

// faultJSON is a fault in the JSON of its level.
type faultJSON struct {
	Fault    string   `json:"fault"`
	Before   *float64 `json:"before_rps"` // null if no full second came before
	Lowest   *float64 `json:"lowest_rps"` // null, as the next two, if the level ended before the fault began
	Failed   *uint64  `json:"failed_total"`
	Rejected *uint64  `json:"rejected_total"`
	Back     *float64 `json:"back_s"` // null if it was not seen
	Why      string   `json:"back_why,omitempty"`
	Found    *float64 `json:"found_s,omitempty"` // by the watch
}

func newFaultJSON(f *faultRow) faultJSON {
	j := faultJSON{Fault: f.fault.String(), Before: f.Before, Why: f.Why}
	if f.Begun {
		j.Lowest, j.Failed, j.Rejected = &f.Lowest, &f.Failed, &f.Rejected
	}
	if f.found != nil {
		found := f.found.Seconds()
		j.Found = &found
	}
	if f.Back != nil {
		back := float64(*f.Back) / float64(time.Second)
		j.Back = &back
	}
	return j
}

// faultyRow is a level with its faults beside the names of the CSV.
type faultyRow struct {
	row    *result.Row
	faults []faultJSON
}

// MarshalJSON adds the faults to the row's own object.
func (r faultyRow) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.row)
	if err != nil || len(r.faults) == 0 {
		return text, err
	}
	faults, err := json.Marshal(r.faults)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(text[:len(text)-1], `,"faults":%s}`, faults), nil
}

// faultyRows has all levels of a run.
func faultyRows(r *result.Run) ([]faultyRow, error) {
	all := make([]faultyRow, len(r.Rows))
	for i := range r.Rows {
		all[i].row = &r.Rows[i]
	}
	rows, err := faultRows(r)
	if err != nil || len(rows) == 0 {
		return all, err
	}
	each := len(rows) / len(all)
	for i := range rows {
		all[i/each].faults = append(all[i/each].faults, newFaultJSON(&rows[i]))
	}
	return all, nil
}

package result

import (
	"fmt"
	"math"
	"path/filepath"
	"time"
)

// checkWhole makes sure that what was read is what was written: the levels are those of the
// plan, each once and in its order, all of them if the run is said to be complete, and each has
// its seconds in the series. Every error is a *FormatError.
func (r *Run) checkWhole() error {
	for _, check := range []func() error{r.checkPlan, r.checkRows, r.checkSeries} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) damaged(file string, line int, format string, args ...any) error {
	return &FormatError{File: filepath.Join(r.Path, file), Line: line, Err: fmt.Errorf(format, args...)}
}

func (r *Run) checkPlan() error {
	p := &r.Manifest.Plan
	for i, n := range p.Machines {
		if n < 1 || (i > 0 && n <= p.Machines[i-1]) {
			return r.damaged(manifestFile, 0, "the plan has a level of %d machines, and levels are above 0 and rise", n)
		}
	}
	if min(p.Duration, p.Warmup, p.Timeout) < 0 || min(p.Threads, p.Bricks, p.Size, p.W, p.WQ, p.R) < 0 {
		return r.damaged(manifestFile, 0, "the plan has a figure below zero")
	}
	return nil
}

func (r *Run) checkRows() error {
	planned := r.Manifest.Plan.Unfold()
	for i := range r.Rows {
		row := &r.Rows[i]
		if err := row.check(); err != nil {
			return r.damaged(rowsFile, i+1, "%w", err)
		}
		switch {
		case len(planned) == 0: // nobody has said what was planned
		case i >= len(planned):
			return r.damaged(rowsFile, i+1, "a level beyond the %d of the plan", len(planned))
		case !planned[i].fits(row):
			was := Planned{Machines: row.Machines, Protection: row.Protection, Policy: row.Policy}
			return r.damaged(rowsFile, i+1, "the level of %s, where the plan has that of %s", &was, &planned[i])
		}
	}
	if r.State == Complete && len(r.Rows) < len(planned) {
		return r.damaged(rowsFile, 0, "%d of %d levels, though the run is marked complete", len(r.Rows), len(planned))
	}
	return nil
}

// check refuses figures that no measurement has.
func (r *Row) check() error {
	figures := append(r.Rates[:], r.Offered, r.GoodputCI95, r.Late, r.CopiesPerWrite, r.AckedPerWrite, r.Fairness)
	for _, x := range figures {
		if !(x >= 0) || math.IsInf(x, 0) {
			return errNegative
		}
	}
	if min(r.Duration, r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.P999, r.Latency.Max) < 0 || min(r.Machines, r.Threads, r.Users) < 0 {
		return errNegative
	}
	return nil
}

func (r *Run) checkSeries() error {
	seconds := make([]int, len(r.Rows))
	for i := range r.Seconds {
		s := &r.Seconds[i]
		if s.Level < 0 {
			return r.damaged(seriesFile, i+2, "a second of level %d", s.Level)
		}
		if i > 0 && s.Level == r.Seconds[i-1].Level && s.Second <= r.Seconds[i-1].Second {
			return r.damaged(seriesFile, i+2, "second %d of level %d comes after second %d", s.Second, s.Level, r.Seconds[i-1].Second)
		}
		if s.Second >= 0 {
			seconds[s.Level]++
		}
	}
	for i := range r.Rows {
		if have, want := seconds[i], int(r.Rows[i].Duration/time.Second); have != want {
			return r.damaged(seriesFile, 0, "%d seconds of level %d, which has %d by %s", have, i, want, rowsFile)
		}
	}
	return nil
}

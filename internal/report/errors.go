package report

import (
	"fmt"

	"github.com/ssmctl/ssmctl/internal/result"
)

// Error says what cannot be rendered, and what to do instead. It is the caller's to
// mend, like a wrong flag.
type Error struct {
	Problem string
	Hint    string
}

func (e *Error) Error() string { return e.Problem + ": " + e.Hint }

// allRows returns the rows of all runs. None at all is an *Error.
func allRows(runs []*result.Run) ([]result.Row, error) {
	var rows []result.Row
	for _, r := range runs {
		rows = append(rows, r.Rows...)
	}
	if len(rows) == 0 {
		return nil, noRows(runs)
	}
	return rows, nil
}

func noRows(runs []*result.Run) error {
	if len(runs) != 1 {
		return &Error{Problem: "no level to report", Hint: "make one with ssmctl load or sim"}
	}
	m, hint := &runs[0].Manifest, "go on with it by ssmctl load --resume, or measure one with ssmctl load"
	if m.Mode == result.Sim {
		hint = "simulate it again by its command, or another with ssmctl sim"
	}
	return &Error{Problem: fmt.Sprintf("run %s has no level yet", m.Run), Hint: hint}
}

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
	const hint = "measure one with ssmctl load"
	if len(runs) == 1 {
		return &Error{Problem: fmt.Sprintf("run %s has no level yet", runs[0].Manifest.Run), Hint: "go on with it by ssmctl load --resume, or " + hint}
	}
	return &Error{Problem: "no level to report", Hint: hint}
}

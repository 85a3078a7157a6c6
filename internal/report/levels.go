package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/ssmctl/ssmctl/internal/result"
)

// CSV renders the levels of all runs under the one fixed header, result.LevelsHeader.
func CSV(w io.Writer, runs []*result.Run) error {
	rows, err := allRows(runs)
	if err != nil {
		return err
	}
	_, err = w.Write(result.FormatLevels(rows))
	return err
}

// JSON renders the levels of all runs as one array of flat objects: the CSV's
// columns under their names, the rates of all outcomes, reasons, notes and faults.
func JSON(w io.Writer, runs []*result.Run) error {
	if _, err := allRows(runs); err != nil {
		return err
	}
	var all []faultyRow
	for _, r := range runs {
		rows, err := faultyRows(r)
		if err != nil {
			return err
		}
		all = append(all, rows...)
	}
	return writeJSON(w, all)
}

func writeJSON(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

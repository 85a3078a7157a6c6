package result

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// errHeld says that another process is writing to a run.
var errHeld = errors.New("it is being measured")

// DirError says that a directory of runs, or a run in it, cannot be used, why, and
// what to do next.
type DirError struct {
	Path string
	Hint string
	Err  error
}

// Error names the path once, though the cause may name it too, or a file in it.
func (e *DirError) Error() string {
	cause := e.Err
	var of *fs.PathError
	if errors.As(cause, &of) {
		if rel, err := filepath.Rel(e.Path, of.Path); err == nil && filepath.IsLocal(rel) {
			cause = of.Err
			if rel != "." {
				cause = fmt.Errorf("%s: %w", rel, of.Err)
			}
		}
	}
	return fmt.Sprintf("%s: %v: %s", e.Path, cause, e.Hint)
}

// Unwrap returns the cause.
func (e *DirError) Unwrap() error { return e.Err }

// FindError says that a name of a run fits none, or several.
type FindError struct {
	Base       string
	Name       string   // empty when the newest was asked for
	Candidates []string // the runs that it fits; empty if none
}

func (e *FindError) Error() string {
	switch {
	case len(e.Candidates) > 0:
		return fmt.Sprintf("%q fits %s: write more of it", e.Name, strings.Join(e.Candidates, ", "))
	case e.Name == "":
		return fmt.Sprintf("no runs in %s: make one with ssmctl load or sim", e.Base)
	default:
		return fmt.Sprintf("no run %q in %s: see ssmctl runs list", e.Name, e.Base)
	}
}

// DamagedError says why a directory that has a run's name cannot be read as one.
type DamagedError struct {
	Path string
	Err  error // names the path
}

func (e *DamagedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// newDamaged makes one of what readEntry says of a path.
func newDamaged(path string, err error) *DamagedError {
	if !errors.As(err, new(*DirError)) && !errors.As(err, new(*FormatError)) { // which say it all
		err = &DirError{Path: path, Err: err, Hint: "see ssmctl runs list"}
	}
	return &DamagedError{Path: path, Err: err}
}

// FormatError says where a file of a run is not what this package writes.
type FormatError struct {
	File string // its kind: levels.csv, series.csv, ...
	Line int    // from 1; 0 if it is the whole file
	Err  error
}

func (e *FormatError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s, line %d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

package result

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var namePattern = regexp.MustCompile(`^(\d{8}T\d{6}Z-[0-9a-f]{6}|sim-[0-9a-f]{16})$`)

// Entry is one run in a list: what is known of it without reading its series.
type Entry struct {
	Path     string
	Started  time.Time // as the manifest says; of a simulated run, when it was last made
	Manifest Manifest
	State    State
	Levels   int // durable ones
}

// List returns the runs under base, the one that was started first at the head, and why each
// directory that has a run's name is not among them. It passes over whatever has another name; a base that
// does not exist has none.
func List(base string) (runs []Entry, damaged []*DamagedError, err error) {
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, &DirError{Path: base, Err: err, Hint: "name another directory with --out"}
	}
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		run, err := readEntry(path)
		switch {
		case err == nil:
			runs = append(runs, run)
		case namePattern.MatchString(e.Name()) && !errors.Is(err, fs.ErrNotExist): // without a manifest it was never begun
			damaged = append(damaged, newDamaged(path, err))
		}
	}
	slices.SortStableFunc(runs, func(a, b Entry) int { return a.Started.Compare(b.Started) })
	return runs, damaged, nil
}

// readEntry is strict: it decides what Remove may delete.
func readEntry(path string) (Entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Entry{}, err
	}
	if !info.IsDir() || !namePattern.MatchString(info.Name()) {
		return Entry{}, errors.New("not a run's directory")
	}
	m, err := readManifest(path)
	if err != nil {
		return Entry{}, err
	}
	if m.Run != info.Name() {
		return Entry{}, fmt.Errorf("its manifest is that of run %q", m.Run)
	}
	rows, err := readOptional(path, rowsFile)
	if err != nil {
		return Entry{}, err
	}
	started := m.Started
	if started.IsZero() {
		if started, err = manifestTime(path); err != nil {
			return Entry{}, err
		}
	}
	state, _ := readState(path)
	return Entry{Path: path, Started: started, Manifest: m, State: state, Levels: bytes.Count(rows, []byte("\n"))}, nil
}

// manifestTime returns when a manifest was written.
func manifestTime(path string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(path, manifestFile))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime().UTC(), nil
}

// Latest returns the newest run under base that has a level, or the newest if none has one,
// and those of List that cannot be read and may be newer. With no run at all the error is a
// *FindError, with none that can be read it has a *DamagedError for each.
func Latest(base string) (_ Entry, damaged []*DamagedError, err error) {
	runs, damaged, err := List(base)
	if err != nil {
		return Entry{}, nil, err
	}
	if len(runs) == 0 && len(damaged) > 0 {
		errs := make([]error, len(damaged))
		for i := range damaged {
			errs[i] = damaged[i]
		}
		return Entry{}, nil, errors.Join(errs...)
	}
	if len(runs) == 0 {
		return Entry{}, nil, &FindError{Base: base}
	}
	for _, run := range slices.Backward(runs) {
		if run.Levels > 0 {
			return run, damaged, nil
		}
	}
	return runs[len(runs)-1], damaged, nil
}

// Find returns the run that a person means: under base by its name, by the id at the
// name's end, or by the first characters of either, where none or several is a
// *FindError; or anywhere by its path, if the name has a separator in it. What is there and cannot
// be read is a *DamagedError.
func Find(base, name string) (Entry, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		run, err := readEntry(filepath.Clean(name))
		if err != nil {
			return Entry{}, newDamaged(name, err)
		}
		return run, nil
	}
	runs, damaged, err := List(base)
	if err != nil {
		return Entry{}, err
	}
	names := func(full string) bool {
		_, id, _ := strings.Cut(full, "-")
		return name != "" && (strings.HasPrefix(full, name) || strings.HasPrefix(id, name))
	}
	fits := slices.DeleteFunc(runs, func(run Entry) bool { return !names(run.Manifest.Run) })
	if len(fits) == 1 {
		return fits[0], nil
	}
	e := &FindError{Base: base, Name: name}
	for _, run := range fits {
		e.Candidates = append(e.Candidates, run.Manifest.Run)
	}
	for _, d := range damaged {
		if len(fits) == 0 && names(filepath.Base(d.Path)) {
			return Entry{}, d
		}
	}
	return Entry{}, e
}

// cause is what is wrong, without the directory and what to do about it.
func cause(err error) error {
	var dir *DirError
	if errors.As(err, &dir) {
		return dir.Err
	}
	return err
}

// Remove deletes a run's directory and all that is in it. What does not look like a
// run in every respect is left alone, with a *DirError.
func Remove(path string) error {
	if _, err := readEntry(path); err != nil {
		return &DirError{Path: path, Err: cause(err), Hint: "nothing was removed; look into it and remove it by hand"}
	}
	if held(path) {
		return &DirError{Path: path, Err: errHeld, Hint: "nothing was removed; wait for it, or stop it first"}
	}
	return os.RemoveAll(path)
}

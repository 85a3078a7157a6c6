package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Run is a run read back.
type Run struct {
	Path     string
	Manifest Manifest
	State    State
	Why      string // the reason that Finish was given
	Rows     []Row  // of the durable levels, in the plan's order
	Seconds  []Second
	PerHost  map[string][]Second
	Events   []Event
}

// Open reads a run. What a crash left of a level that is not durable is passed over.
// A directory that is not a run is a *DirError, a damaged file a *FormatError, and so is one that
// misses what another says must be there.
func Open(path string) (*Run, error) {
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	r := &Run{Path: path, Manifest: m, PerHost: make(map[string][]Second)}
	r.State, r.Why = readState(path)
	if r.Rows, err = readLines[Row](path, rowsFile); err != nil {
		return nil, err
	}
	if r.Events, err = readLines[Event](path, eventsFile); err != nil {
		return nil, err
	}
	if r.Seconds, err = r.readSeries(seriesFile); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		host, ok := hostOf(e.Name())
		if !ok {
			continue
		}
		if r.PerHost[host], err = r.readSeries(e.Name()); err != nil {
			return nil, err
		}
	}
	if err := r.checkWhole(); err != nil {
		return nil, err
	}
	return r, nil
}

// Histograms reads those of one level, counted from 0. A level without any gives an empty set.
func (r *Run) Histograms(level int) (*Histograms, error) {
	src, err := readOptional(r.Path, histogramsFile)
	if err != nil {
		return nil, err
	}
	return parseHistograms(src, level)
}

func (r *Run) readSeries(name string) ([]Second, error) {
	src, err := readOptional(r.Path, name)
	if err != nil || len(src) == 0 {
		return nil, err
	}
	seconds, err := ParseSeries(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(r.Path, name), err)
	}
	return slices.DeleteFunc(seconds, func(s Second) bool { return s.Level >= len(r.Rows) }), nil
}

func readManifest(path string) (Manifest, error) {
	var m Manifest
	src, err := os.ReadFile(filepath.Join(path, manifestFile))
	if err != nil {
		return m, &DirError{Path: path, Err: err, Hint: "it is not a run's directory: see ssmctl runs list"}
	}
	if err := json.Unmarshal(src, &m); err != nil {
		return m, &FormatError{File: filepath.Join(path, manifestFile), Err: err}
	}
	if m.FormatVersion < 1 || m.FormatVersion > FormatVersion {
		err := fmt.Errorf("format version %d, this ssmctl reads 1 to %d", m.FormatVersion, FormatVersion)
		return m, &DirError{Path: path, Err: err, Hint: "read it with the ssmctl that made it"}
	}
	return m, nil
}

func readState(path string) (State, string) {
	for _, s := range []State{Complete, Partial} {
		if why, err := os.ReadFile(filepath.Join(path, string(s))); err == nil {
			return s, string(bytes.TrimSpace(why))
		}
	}
	if held(path) {
		return Running, ""
	}
	return Unfinished, ""
}

// readOptional returns nil for a file that is not there yet.
func readOptional(path, name string) ([]byte, error) {
	src, err := os.ReadFile(filepath.Join(path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

// readLines reads a file of JSON lines. A last line without its line feed was cut
// short by a crash and does not count.
func readLines[T any](path, name string) ([]T, error) {
	src, err := readOptional(path, name)
	if err != nil {
		return nil, err
	}
	var all []T
	n := 0
	for line := range bytes.Lines(src) {
		n++
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, &FormatError{File: filepath.Join(path, name), Line: n, Err: err}
		}
		all = append(all, one)
	}
	return all, nil
}

package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Resume opens a run to go on with it after its first levels, which must be durable.
// Whatever the directory holds beyond them is dropped; events stay. Whether plan and
// binary are the same is for the caller to check, by the manifest.
func Resume(path string, levels int) (_ *Dir, err error) {
	if _, err := readManifest(path); err != nil {
		return nil, err
	}
	lock, err := hold(path)
	if err != nil {
		return nil, &DirError{Path: path, Err: err, Hint: "wait for it, or stop it first"}
	}
	defer func() {
		if err != nil {
			_ = lock.Close() // which gives the run back
		}
	}()
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	if levels < 0 || levels > len(r.Rows) {
		return nil, fmt.Errorf("resume after %d levels: the run has %d", levels, len(r.Rows))
	}
	d := &Dir{path: path, manifest: r.Manifest, lock: lock, levels: levels, sizes: make(map[string]int64)}
	if err := d.sweep(); err != nil {
		return nil, err
	}
	if err := d.cutEvents(); err != nil {
		return nil, err
	}
	if len(r.Rows) == 0 {
		return d, d.sync()
	}
	return d, d.rollback(r)
}

// sweep removes the markers, and the temporary files of a writer that was killed.
func (d *Dir) sweep() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if name != string(Complete) && name != string(Partial) && !strings.HasPrefix(name, ".") {
			continue
		}
		if err := os.Remove(filepath.Join(d.path, name)); err != nil {
			return err
		}
	}
	return nil
}

// cutEvents drops a last line that a crash cut short, so that the next one starts afresh.
func (d *Dir) cutEvents() error {
	src, err := readOptional(d.path, eventsFile)
	whole := src[:bytes.LastIndexByte(src, '\n')+1]
	if err != nil || len(whole) == len(src) {
		return err
	}
	return d.replace(eventsFile, whole)
}

// rollback cuts every file back to the levels that stay, the record of them first:
// a crash on the way leaves a run that reads, and can be resumed again.
func (d *Dir) rollback(r *Run) error {
	var rows []byte
	for _, row := range r.Rows[:d.levels] {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		rows = append(append(rows, line...), '\n')
	}
	keep := func(seconds []Second) []byte {
		return FormatSeries(slices.DeleteFunc(slices.Clone(seconds), func(s Second) bool { return s.Level >= d.levels }))
	}
	hists, err := readOptional(d.path, histogramsFile)
	if err != nil {
		return err
	}
	cut := func(name string, text []byte) {
		if err == nil {
			d.sizes[name], err = int64(len(text)), d.replace(name, text)
		}
	}
	cut(rowsFile, rows)
	cut(levelsFile, FormatLevels(r.Rows[:d.levels]))
	cut(seriesFile, keep(r.Seconds))
	for host, seconds := range r.PerHost {
		cut(hostFile(host), keep(seconds))
	}
	cut(histogramsFile, cutHistograms(hists, d.levels))
	if err != nil {
		return err
	}
	return d.sync()
}

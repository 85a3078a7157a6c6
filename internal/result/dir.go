package result

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
)

// The files of a run directory; docs/formats.md describes each.
const (
	manifestFile   = "manifest.json"
	rowsFile       = "levels.jsonl" // the record of levels: a level is durable once it stands here
	histogramsFile = "histograms.hlog"
	eventsFile     = "events.jsonl"
	hostPrefix     = "series-"
	hostSuffix     = ".csv"
)

const (
	dirMode  = 0o755
	fileMode = 0o644
	nameTime = "20060102T150405Z"
	// minFree is what a run must find free: some 200 levels of two minutes on 40 hosts.
	minFree = 64 << 20
)

// State says how a run ended.
type State string

// The states. The first two are also the names of the files that say so.
const (
	Complete   State = "complete"   // every level of the plan was measured
	Partial    State = "partial"    // it was stopped, and collected what it had
	Running    State = "running"    // a process is measuring it
	Unfinished State = "unfinished" // it crashed, or was killed
)

// Dir is the directory of a run that is being measured. Its methods are safe for
// concurrent use; only one Dir may write to a directory at a time.
type Dir struct {
	path     string
	final    string // where Finish puts a draft; empty for what is no draft, and from then on
	manifest Manifest
	lock     io.Closer // keeps other writers away until Finish

	mu     sync.Mutex
	levels int
	sizes  map[string]int64 // of each file, what belongs to durable levels
}

// Level is what AppendLevel makes durable.
type Level struct {
	Row        Row
	Start      time.Time           // of the level, for the histogram log; may be zero
	Seconds    []Second            // of all machines together, warm-up included
	PerHost    map[string][]Second // by host; may be nil
	Histograms *Histograms         // may be nil
	Events     []Event             // of a simulated level; those of a live one are added as they happen
}

// NewName returns a run's name: its start in UTC and six random hex digits.
func NewName(started time.Time) string {
	var id [3]byte
	_, _ = rand.Read(id[:]) // never fails: see its documentation
	return started.UTC().Format(nameTime) + "-" + hex.EncodeToString(id[:])
}

// Create makes the directory of a new run under base, and base itself if needed, and
// writes the manifest. That of a simulated run is a draft, which appears under its name with
// Finish. A base that cannot be written, or with less than 64 MiB free, is a *DirError.
func Create(base string, m Manifest) (*Dir, error) {
	m.FormatVersion = FormatVersion
	if err := m.name(); err != nil {
		return nil, err
	}
	d := &Dir{path: filepath.Join(base, m.Run), manifest: m, sizes: make(map[string]int64)}
	if err := d.make(base); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if err := d.replace(manifestFile, append(text, '\n')); err != nil {
		return nil, err
	}
	if d.lock, err = hold(d.path); err != nil {
		return nil, &DirError{Path: d.path, Err: err, Hint: "start again"}
	}
	return d, d.sync()
}

// name gives a run its name, unless it has one.
func (m *Manifest) name() (err error) {
	switch {
	case m.Run == "" && m.Mode == Sim:
		m.Run, err = simName(*m)
	case m.Run == "":
		m.Run = NewName(m.Started)
	case !namePattern.MatchString(m.Run):
		err = fmt.Errorf("%q is not a run's name: leave it to Create", m.Run)
	}
	return err
}

// make makes the directory, and base if needed.
func (d *Dir) make(base string) (err error) {
	if err := os.MkdirAll(base, dirMode); err != nil {
		return &DirError{Path: base, Err: err, Hint: "name another directory with --out"}
	}
	if free, ok := freeBytes(base); ok && free < minFree {
		err := fmt.Errorf("only %d MiB free, a run needs %d", free>>20, minFree>>20)
		return &DirError{Path: base, Err: err, Hint: "free some, or name another directory with --out"}
	}
	if d.manifest.Mode == Sim {
		d.final = d.path
		d.path, err = makeDraft(base, d.final)
		return err
	}
	switch err := os.Mkdir(d.path, dirMode); {
	case errors.Is(err, fs.ErrExist):
		return &DirError{Path: d.path, Err: err, Hint: "start again: every run has a name of its own"}
	case err != nil:
		return &DirError{Path: base, Err: err, Hint: "make it writable, or name another directory with --out"}
	}
	return nil
}

// Path returns the directory, which for a draft is another after Finish.
func (d *Dir) Path() string { return d.path }

// Manifest returns what Create wrote.
func (d *Dir) Manifest() Manifest { return d.manifest }

// Levels returns the number of durable levels.
func (d *Dir) Levels() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.levels
}

// AppendLevel makes a level durable: when it returns without error, the level
// survives a crash; after an error or a crash on the way, the directory reads as if it had
// never been called, and it may be called again. Levels come in the plan's order: the
// seconds of the nth carry level n-1.
func (d *Dir) AppendLevel(l Level) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := l.check(d.levels); err != nil {
		return err
	}
	if len(l.Events) > 0 && d.final == "" {
		return fmt.Errorf("level %d: its events come with it, and were to be added as they happened", d.levels)
	}
	row, err := json.Marshal(l.Row)
	if err != nil {
		return fmt.Errorf("level %d: %w", d.levels, err)
	}
	hists, err := formatHistograms(d.levels, l)
	if err != nil {
		return fmt.Errorf("level %d: %w", d.levels, err)
	}
	sizes := make(map[string]int64)
	add := func(name, head string, body []byte) {
		if err == nil {
			sizes[name], err = d.extend(name, head, body)
		}
	}
	if len(l.Events) > 0 {
		events, wrong := formatEvents(l.Events)
		if wrong != nil {
			return wrong
		}
		add(eventsFile, "", events)
	}
	add(histogramsFile, histogramsHead(), hists)
	add(seriesFile, SeriesHeader+"\n", body(FormatSeries(l.Seconds)))
	for host, seconds := range l.PerHost {
		add(hostFile(host), SeriesHeader+"\n", body(FormatSeries(seconds)))
	}
	add(levelsFile, LevelsHeader+"\n", body(FormatLevels([]Row{l.Row})))
	add(rowsFile, "", append(row, '\n')) // last: it is what makes the level count
	if err == nil && d.final == "" {
		err = d.sync()
	}
	if err != nil {
		return err
	}
	for name, size := range sizes {
		d.sizes[name] = size
	}
	d.levels++
	return nil
}

// check makes sure that every second is one of level n.
func (l *Level) check(n int) error {
	all := slices.Concat(l.Seconds, slices.Concat(slices.Collect(maps.Values(l.PerHost))...))
	for _, s := range all {
		if s.Level != n {
			return fmt.Errorf("a second of level %d in level %d", s.Level, n)
		}
	}
	return nil
}

// extend replaces a file by what is durable of it and text, and returns its new size.
// A new file starts with head.
func (d *Dir) extend(name, head string, text []byte) (int64, error) {
	if d.final != "" {
		return d.lengthen(name, head, text)
	}
	old := []byte(head)
	if size, ok := d.sizes[name]; ok {
		var err error
		if old, err = os.ReadFile(filepath.Join(d.path, name)); err != nil {
			return 0, err
		}
		if int64(len(old)) < size {
			return 0, &FormatError{File: name, Err: fmt.Errorf("it has shrunk to %d bytes from %d", len(old), size)}
		}
		old = old[:size]
	}
	text = slices.Concat(old, text)
	return int64(len(text)), d.replace(name, text)
}

// replace writes a file as a whole: readers see the old one or the new one.
func (d *Dir) replace(name string, text []byte) error {
	err := renameio.WriteFile(filepath.Join(d.path, name), text, fileMode, renameio.WithTempDir(d.path))
	if err != nil {
		return d.writeError(name, err)
	}
	return nil
}

func (d *Dir) writeError(name string, err error) error {
	next := "ssmctl load --resume " + d.path
	if d.final != "" {
		next = "simulate again"
	}
	return &DirError{Path: filepath.Join(d.path, name), Err: err, Hint: "free some space or mend it, then " + next}
}

// sync makes the renames themselves durable.
func (d *Dir) sync() error { return syncPath(d.path) }

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// AddEvent appends to events.jsonl at once.
func (d *Dir) AddEvent(e Event) error {
	line, err := formatEvents([]Event{e})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(d.path, eventsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, fileMode)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Sync(), f.Close())
}

// formatEvents writes events as events.jsonl has them, a line each.
func formatEvents(events []Event) ([]byte, error) {
	var lines []byte
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("event: %w", err)
		}
		lines = append(append(lines, line...), '\n')
	}
	return lines, nil
}

// Finish marks the run Complete or Partial, with the reason in words, which may be
// empty, and lets other writers at it. A draft appears in its place; an earlier
// run there is replaced, unless that one is complete and this one is not.
func (d *Dir) Finish(s State, why string) error {
	if s != Complete && s != Partial {
		return fmt.Errorf("%q does not finish a run: choose %s or %s", s, Complete, Partial)
	}
	if why != "" {
		why += "\n"
	}
	if err := d.replace(string(s), []byte(why)); err != nil {
		return err
	}
	if d.final != "" {
		return errors.Join(d.place(s), d.lock.Close())
	}
	return errors.Join(d.sync(), d.lock.Close())
}

// Close gives the run back without finishing it, as the end of the process would.
func (d *Dir) Close() error { return d.lock.Close() }

// hostFile is the name of a host's own series. Whatever the host is called, it is a
// plain file in the directory.
func hostFile(host string) string { return hostPrefix + url.PathEscape(host) + hostSuffix }

// hostOf is the inverse of hostFile; it reports false for other files.
func hostOf(name string) (string, bool) {
	escaped, ok := strings.CutPrefix(name, hostPrefix)
	if !ok {
		return "", false
	}
	escaped, ok = strings.CutSuffix(escaped, hostSuffix)
	host, err := url.PathUnescape(escaped)
	return host, ok && err == nil
}

// body cuts the first line, the header, off a CSV.
func body(csv []byte) []byte { return csv[slices.Index(csv, '\n')+1:] }

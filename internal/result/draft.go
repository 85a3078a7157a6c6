package result

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A simulated run can be made again at any time, and is the same again. So it bears a
// name that follows from what it is, and is made as a draft: out of sight, until Finish puts
// it in its place as a whole.
const (
	simPrefix    = "sim-"
	simDigits    = 16
	draftPattern = "." + simPrefix + "*"
	// draftAge is how long a draft must lie there before it is taken for one that a dead
	// process has left: far longer than from its making to its being held.
	draftAge = time.Hour
)

// simName returns the name of a simulated run: the same for the same manifest, and so
// for the same plan, profile and ssmctl.
func simName(m Manifest) (string, error) {
	m.Run = ""
	text, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("manifest: %w", err)
	}
	sum := sha256.Sum256(text)
	return simPrefix + hex.EncodeToString(sum[:])[:simDigits], nil
}

// makeDraft makes the directory of a draft of the run that will lie in path, and
// removes what dead processes have left of theirs.
func makeDraft(base, path string) (string, error) {
	if err := checkPlace(path); err != nil {
		return "", err
	}
	left, err := filepath.Glob(filepath.Join(base, draftPattern))
	if err != nil {
		return "", err
	}
	for _, draft := range left {
		if info, err := os.Lstat(draft); err == nil && time.Since(info.ModTime()) > draftAge && !held(draft) {
			_ = os.RemoveAll(draft) // what cannot be removed is in nobody's way
		}
	}
	draft, err := os.MkdirTemp(base, "."+filepath.Base(path)+"-")
	if err == nil {
		err = os.Chmod(draft, dirMode)
	}
	if err != nil {
		return "", &DirError{Path: base, Err: err, Hint: "make it writable, or name another directory with --out"}
	}
	return draft, nil
}

// lengthen is extend for a draft: nobody reads it, and a crash leaves nothing of it, so a
// level costs no more than its own bytes.
func (d *Dir) lengthen(name, head string, text []byte) (int64, error) {
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return 0, d.writeError(name, err)
	}
	size, begun := d.sizes[name]
	if !begun {
		text = append([]byte(head), text...)
	}
	err = f.Truncate(size)
	if err == nil {
		_, err = f.WriteAt(text, size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, d.writeError(name, err)
	}
	return size + int64(len(text)), nil
}

// checkPlace makes sure that nothing but a run may lie where a run is to be.
func checkPlace(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := readEntry(path); err != nil {
		return &DirError{Path: path, Err: cause(err), Hint: "it is in the way of the run: move it, or name another directory with --out"}
	}
	return nil
}

// place puts a finished draft where the run belongs. An earlier run of the same name
// is replaced in one step and then removed, save that a partial run does not replace a complete one.
func (d *Dir) place(s State) error {
	draft := d.path
	for name := range d.sizes {
		if err := syncPath(filepath.Join(draft, name)); err != nil {
			return err
		}
	}
	if err := d.sync(); err != nil {
		return err
	}
	d.path, d.final = d.final, ""
	if old, _ := readState(d.path); s == Partial && old == Complete {
		return os.RemoveAll(draft)
	}
	if err := checkPlace(d.path); err != nil {
		return err
	}
	err := os.Rename(draft, d.path) // which replaces no directory that holds something
	if err != nil {
		if err = swap(draft, d.path); err == nil {
			err = os.RemoveAll(draft)
		}
	}
	if err != nil {
		return &DirError{Path: d.path, Err: err, Hint: "the run is in " + draft}
	}
	return syncPath(filepath.Dir(d.path))
}

// Discard ends a draft that is to leave nothing.
func (d *Dir) Discard() error {
	if d.final == "" {
		return fmt.Errorf("%s is no draft, and stays", d.path)
	}
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

// swapInSteps exchanges two directories where the system does it in no one step: for a
// moment b is not there.
func swapInSteps(a, b string) error {
	aside := a + "-old"
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}

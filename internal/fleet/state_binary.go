package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/ssmctl/ssmctl/internal/fleet/self"
)

// Bricks run from copies of ssmctl in the state directory. The original may be gone,
// or another one, by the time a brick is restarted: go run removes its binary at once.
const (
	binaries   = "bin"
	binaryName = "ssmctl"
	binaryMode = 0o700
)

func (s *State) binaryPath(sum string) string {
	return filepath.Join(s.dir, binaries, sum, binaryName)
}

// keepBinary copies the running program into the directory, unless it is there
// already, and returns its SHA-256 in hex.
func (s *State) keepBinary() (string, error) {
	program, err := self.Open()
	if err != nil {
		return "", fmt.Errorf("open this program, to start bricks from it: %w: install ssmctl anew", err)
	}
	defer func() { _ = program.Close() }() // it was only read
	hash := sha256.New()
	if _, err := io.Copy(hash, program); err != nil {
		return "", fmt.Errorf("read this program, to start bricks from it: %w: install ssmctl anew", err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	path := s.binaryPath(sum)
	if _, err := os.Stat(path); err == nil {
		return sum, nil
	}
	if err := copyBinary(path, program); err != nil {
		return "", &StateError{Path: path, Err: err, Hint: "free some space, or set XDG_STATE_HOME to a directory of your own"}
	}
	return sum, nil
}

func copyBinary(path string, from io.ReadSeeker) error {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, stateMode); err != nil {
		return err
	}
	to, err := renameio.NewPendingFile(path, renameio.WithPermissions(binaryMode), renameio.WithTempDir(dir))
	if err != nil {
		return err
	}
	defer func() { _ = to.Cleanup() }() // nothing is left of it once it is in place
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.CloseAtomicallyReplace()
}

// pruneBinaries removes the copies that no record names.
func (s *State) pruneBinaries() error {
	records, err := s.Records()
	if err != nil {
		return err
	}
	used := make(map[string]bool)
	for i := range records {
		used[records[i].BinarySHA256] = true
	}
	dir := filepath.Join(s.dir, binaries)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &StateError{Path: dir, Err: err, Hint: elsewhere}
	}
	for _, e := range entries {
		if used[e.Name()] {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return &StateError{Path: dir, Err: err, Hint: elsewhere}
		}
	}
	return nil
}

package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/adrg/xdg"
	"github.com/google/renameio/v2"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// What the state directory holds is its user's alone: whoever can write a record
// chooses which process is signalled.
const (
	stateMode  = 0o700
	recordMode = 0o600
)

const (
	recordSuffix = ".json"
	logSuffix    = ".log"
)

// Order is what a brick process is told when it starts.
type Order struct {
	ID         session.BrickID `json:"id"`
	Listen     string          `json:"listen"` // host:port; port 0 is any free one
	Profile    profile.Profile `json:"profile"`
	Protection string          `json:"protection"`
	Memory     int64           `json:"memory_bytes"`   // 0 is the default of a brick
	Inbox      int64           `json:"inbox_bytes"`    // 0 is the default of a brick
	Keys       *secure.Keys    `json:"keys,omitempty"` // nil is plaintext
}

// Record is a brick process as it was started. Whether it still runs is for Alive to say.
type Record struct {
	Order
	Addr         string    `json:"addr"` // where it listens
	PID          int       `json:"pid"`
	ProcessStart string    `json:"process_start"` // as the system names it; with PID it is one process only
	Run          string    `json:"run"`           // random, and in the arguments of the process
	BinarySHA256 string    `json:"binary_sha256"` // of the program that it runs
	Log          string    `json:"log"`
	Started      time.Time `json:"started"`
}

// Brick returns the brick and where it listens.
func (r *Record) Brick() remote.Brick { return remote.Brick{ID: r.ID, Addr: r.Addr} }

// State is the directory in which the brick processes of this user are recorded, each
// in a file of its own beside its log. It is made when the first brick starts.
type State struct {
	dir     string
	notices func(string)
}

// OpenState names the directory; "" is that of the user. What is done there unasked,
// such as removing a stale record, is told to notices, a sentence each; it may be nil.
func OpenState(dir string, notices func(string)) *State {
	if dir == "" {
		dir = filepath.Join(xdg.StateHome, "ssmctl", "bricks")
	}
	return &State{dir: dir, notices: notices}
}

// StateError says that the state directory cannot be used, why, and what to do next.
type StateError struct {
	Path string
	Hint string
	Err  error
}

func (e *StateError) Error() string { return fmt.Sprintf("%s: %v: %s", e.Path, e.Err, e.Hint) }

// Unwrap returns the cause.
func (e *StateError) Unwrap() error { return e.Err }

const elsewhere = "make it writable, or set XDG_STATE_HOME to a directory of your own"

// make makes the directory if there is none.
func (s *State) make() error {
	if err := os.MkdirAll(s.dir, stateMode); err != nil {
		return &StateError{Path: s.dir, Err: err, Hint: elsewhere}
	}
	_, err := s.exists()
	return err
}

// exists reports whether there is a directory, and sees to it that it is private.
func (s *State) exists() (bool, error) {
	info, err := os.Stat(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &StateError{Path: s.dir, Err: err, Hint: elsewhere}
	case !info.IsDir():
		return false, &StateError{Path: s.dir, Err: errors.New("not a directory"), Hint: "move it away"}
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		err := fmt.Errorf("it belongs to user %d", owner.Uid)
		return false, &StateError{Path: s.dir, Err: err, Hint: "set XDG_STATE_HOME to a directory of your own"}
	}
	if info.Mode().Perm()&^stateMode == 0 {
		return true, nil
	}
	if err := os.Chmod(s.dir, stateMode); err != nil {
		return false, &StateError{Path: s.dir, Err: err, Hint: "others have access to it: run chmod 700 on it"}
	}
	s.notice("others had access to %s: it is private now", s.dir)
	return true, nil
}

func (s *State) notice(format string, args ...any) {
	if s.notices != nil {
		s.notices(fmt.Sprintf(format, args...))
	}
}

// Records returns what is recorded, in the order of the ids. No directory is no records.
func (s *State) Records() ([]Record, error) {
	if ok, err := s.exists(); !ok {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(s.dir, "brick-*"+recordSuffix))
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	records := make([]Record, 0, len(paths))
	for _, path := range paths {
		r, err := readRecord(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // another ssmctl has just removed it
		case err != nil:
			// One bad record must not keep the others' bricks from being listed and stopped.
			s.notice("%s: %v: it is no record of this version: see to its process, then remove it", path, err)
		default:
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	return records, nil
}

func readRecord(path string) (Record, error) {
	var r Record
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	if name := strings.TrimSuffix(filepath.Base(path), recordSuffix); name != r.ID.String() {
		return r, fmt.Errorf("it is the record of %s", r.ID)
	}
	return r, r.Profile.Validate()
}

// Record returns the record of one brick. If there is none the error is an *UnknownError.
func (s *State) Record(id session.BrickID) (Record, error) {
	records, err := s.Records()
	if err != nil {
		return Record{}, err
	}
	return find(records, id)
}

func find(records []Record, id session.BrickID) (Record, error) {
	i := slices.IndexFunc(records, func(r Record) bool { return r.ID == id })
	if i < 0 {
		return Record{}, &UnknownError{ID: id, Known: idsOf(records)}
	}
	return records[i], nil
}

func (s *State) recordPath(id session.BrickID) string {
	return filepath.Join(s.dir, id.String()+recordSuffix)
}

func (s *State) logPath(id session.BrickID) string {
	return filepath.Join(s.dir, id.String()+logSuffix)
}

func (s *State) save(r *Record) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("record of %s: %w", r.ID, err)
	}
	path := s.recordPath(r.ID)
	if err := renameio.WriteFile(path, append(text, '\n'), recordMode, renameio.WithTempDir(s.dir)); err != nil {
		return &StateError{Path: path, Err: err, Hint: elsewhere}
	}
	return nil
}

func (s *State) forget(id session.BrickID) error {
	path := s.recordPath(id)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &StateError{Path: path, Err: err, Hint: elsewhere}
	}
	return nil
}

func idsOf(records []Record) []session.BrickID {
	ids := make([]session.BrickID, len(records))
	for i := range records {
		ids[i] = records[i].ID
	}
	return ids
}

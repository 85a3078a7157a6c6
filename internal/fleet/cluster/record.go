package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/adrg/xdg"
	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/profile"
)

// What a record says is run on hosts, and beside it are keys: it is its user's alone.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

const (
	recordFile    = "cluster.json"
	keysFile      = "authority.pem"
	formatVersion = 1
)

// Record is what was made on hosts, or was about to be.
type Record struct {
	FormatVersion int             `json:"format_version"`
	ID            string          `json:"id"`            // names its places on the hosts and its directory here
	Run           string          `json:"run,omitempty"` // the load that it ends with; empty: it stays until it is stopped
	Source        string          `json:"source"`        // the inventory that it is of
	Made          time.Time       `json:"made"`
	Profile       profile.Profile `json:"profile"` // of its bricks
	Plaintext     bool            `json:"plaintext,omitempty"`
	Hosts         []Host          `json:"hosts"`
}

// Host is a host as it was when the record was made, and what is on it.
type Host struct {
	inventory.Host
	Started []remote.Brick // without an address: was about to start
	// Untouched: nothing has been run there yet, so nothing can be left.
	Untouched bool `json:",omitempty"`
}

// Bricks returns all bricks that have started, in the order of their numbers.
func (r *Record) Bricks() []remote.Brick {
	var all []remote.Brick
	for i := range r.Hosts {
		for _, b := range r.Hosts[i].Started {
			if b.Addr != "" {
				all = append(all, b)
			}
		}
	}
	slices.SortFunc(all, func(a, b remote.Brick) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Store is the directory in which records are kept, each in a directory of its own with its keys.
type Store struct {
	// Notices is told of records that cannot be read, once each; it may be nil.
	Notices func(string)

	dir  string
	told map[string]bool
}

// OpenStore names the directory; "" is that of the user.
func OpenStore(dir string) *Store {
	if dir == "" {
		dir = filepath.Join(xdg.StateHome, "ssmctl", "clusters")
	}
	return &Store{dir: dir}
}

// Records returns all records, the oldest first. No directory is no records. One that cannot
// be read is told of and left out: it is no reason not to work with the others.
func (s *Store) Records() ([]*Record, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	var all []*Record
	for _, e := range entries {
		r, err := s.Record(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // in the making, or just removed
		}
		if err != nil {
			s.tell(e.Name(), err)
			continue
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Record) int { return a.Made.Compare(b.Made) })
	return all, nil
}

func (s *Store) tell(id string, err error) {
	if s.Notices == nil || s.told[id] {
		return
	}
	if s.told == nil {
		s.told = make(map[string]bool)
	}
	s.told[id] = true
	s.Notices(fmt.Sprintf("%v: it is left out: ssmctl clean --run %s --hosts FILE asks the hosts of its inventory, and removes it", err, id))
}

// Record returns the record of this id. The error of one that there is not is fs.ErrNotExist.
func (s *Store) Record(id string) (*Record, error) {
	path := filepath.Join(s.dir, id, recordFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("record of a cluster: %w", err)
	}
	r := &Record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w: it is no record of this version", path, err)
	}
	if r.FormatVersion > formatVersion {
		return nil, fmt.Errorf("%s: format version %d, this ssmctl knows %d: use a newer one", path, r.FormatVersion, formatVersion)
	}
	return r, (fleet.Place{Cluster: r.ID, Host: id}).Validate()
}

// Of returns the cluster that was started from an inventory to stay; nil if there is none.
func (s *Store) Of(source string) (*Record, error) {
	return s.find(func(r *Record) bool { return r.Source == source && r.Run == "" })
}

// Current returns what has bricks of an inventory: the cluster that was started to stay, or
// else what a load has started for itself; nil if there is neither.
func (s *Store) Current(source string) (*Record, error) {
	if r, err := s.Of(source); r != nil || err != nil {
		return r, err
	}
	return s.find(func(r *Record) bool { return r.Source == source && len(r.Bricks()) > 0 })
}

// OfRun returns what a load has made; nil if there is nothing.
func (s *Store) OfRun(run string) (*Record, error) {
	return s.find(func(r *Record) bool { return r.Run == run })
}

// IncompleteError says that no brick of a record was ever up.
type IncompleteError struct {
	Record *Record
	Busy   *BusyError // whoever is starting it; nil if nobody is
}

func (e *IncompleteError) Error() string {
	if e.Busy != nil {
		return fmt.Sprintf("cluster %s of %s is being started (%s): wait for it", e.Record.ID, e.Record.Source, e.Busy.Holder)
	}
	return fmt.Sprintf("cluster %s of %s is not complete, its start was cut short: %s", e.Record.ID, e.Record.Source, cleanLine(e.Record))
}

// Whole refuses a record of which no brick was ever up, with an *IncompleteError.
func (s *Store) Whole(r *Record) error {
	if len(r.Bricks()) > 0 {
		return nil
	}
	busy, err := s.busy(r.ID)
	if err != nil {
		return err
	}
	return &IncompleteError{Record: r, Busy: busy}
}

// Drop takes hosts out of a record, which is then as if it had never named them. It returns
// those that it had. A record that is not kept here is changed all the same.
func (s *Store) Drop(r *Record, names []string) (dropped []string, err error) {
	r.Hosts = slices.DeleteFunc(r.Hosts, func(h Host) bool {
		named := slices.Contains(names, h.Name)
		if named {
			dropped = append(dropped, h.Name)
		}
		return named
	})
	if len(dropped) == 0 {
		return nil, nil
	}
	if _, err := s.Record(r.ID); errors.Is(err, fs.ErrNotExist) {
		return dropped, nil
	}
	return dropped, s.add(r)
}

func (s *Store) find(is func(*Record) bool) (*Record, error) {
	all, err := s.Records()
	i := slices.IndexFunc(all, is)
	if err != nil || i < 0 {
		return nil, err
	}
	return all[i], nil
}

// locked does something while no other ssmctl adds or removes a record. It is short: whoever
// comes second waits.
func (s *Store) locked(do func() error) error {
	for {
		if err := os.MkdirAll(s.dir, dirMode); err != nil {
			return fmt.Errorf("record of a cluster: %w: set XDG_STATE_HOME to a directory of your own", err)
		}
		f, err := os.Open(s.dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was empty, and was removed just now
		}
		if err != nil {
			return fmt.Errorf("record of a cluster: %w", err)
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err == nil && fleet.InPlace(f, s.dir) {
			err = do()
			_ = os.Remove(s.dir) // fails while there is something in it
			_ = f.Close()        // which unlocks it
			return err
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("record of a cluster: lock %s: %w", s.dir, err)
		}
	}
}

// Prune removes what is left of records that were never finished: of one that was killed at that.
func (s *Store) Prune() error {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.locked(func() error {
		entries, err := os.ReadDir(s.dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			_, err := os.Stat(filepath.Join(s.dir, e.Name(), recordFile))
			if errors.Is(err, fs.ErrNotExist) {
				err = os.RemoveAll(filepath.Join(s.dir, e.Name()))
			}
			if err != nil {
				return fmt.Errorf("record of a cluster: %w", err)
			}
		}
		return nil
	})
}

// add is the first save of a record.
func (s *Store) add(r *Record) error { return s.locked(func() error { return s.save(r) }) }

// save makes a record durable.
func (s *Store) save(r *Record) error {
	r.FormatVersion = formatVersion
	dir := filepath.Join(s.dir, r.ID)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return fmt.Errorf("record of a cluster: %w: set XDG_STATE_HOME to a directory of your own", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("record of a cluster: %w", err)
	}
	if err := renameio.WriteFile(filepath.Join(dir, recordFile), append(text, '\n'), fileMode, renameio.WithTempDir(dir)); err != nil {
		return fmt.Errorf("record of a cluster: %w: free some space, or set XDG_STATE_HOME to a directory of your own", err)
	}
	return nil
}

// forget removes a record and its keys.
func (s *Store) forget(id string) error {
	if _, err := os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := s.locked(func() error {
		if err := os.RemoveAll(filepath.Join(s.dir, id)); err != nil {
			return fmt.Errorf("record of a cluster: %w", err)
		}
		return nil
	})
	_ = os.Remove(filepath.Dir(s.dir)) // fails while something else is kept there
	return err
}

// BusyError says that a load is using a cluster.
type BusyError struct {
	ID     string
	Holder string // in words
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("cluster %s is in use by another ssmctl (%s): wait for it or stop it", e.ID, e.Holder)
}

// Hold reserves a record for this process, which then alone may load or remove what it
// names. The system takes it back from a process that dies. The error is a *BusyError if
// another has it.
func (s *Store) Hold(id string) (release func(), err error) {
	release, err = fleet.OpenState(filepath.Join(s.dir, id), nil).Occupy()
	var busy *fleet.BusyError
	if errors.As(err, &busy) {
		return nil, &BusyError{ID: id, Holder: busy.Holder}
	}
	return release, err
}

// busy returns who holds a record; nil if nobody does.
func (s *Store) busy(id string) (*BusyError, error) {
	release, err := s.Hold(id)
	if err == nil {
		release()
		return nil, nil
	}
	var busy *BusyError
	if errors.As(err, &busy) {
		return busy, nil
	}
	return nil, err
}

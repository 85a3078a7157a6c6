package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/adrg/xdg"
)

// Place is the part of a host that belongs to one cluster. What runs there is recorded in
// a directory of its own, apart from the bricks that people start on the host itself.
type Place struct {
	Cluster string // random, and in the arguments or the path of every process
	Host    string // as its inventory names it: hosts may share a home directory
	Base    string // directory of all places; empty is that of the user
}

// placeName is what a directory may be called: never a dot file, nor a path.
var placeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$`)

// Validate refuses names that are not those of a directory.
func (p Place) Validate() error {
	if !placeName.MatchString(p.Cluster) || !placeName.MatchString(p.Host) {
		return fmt.Errorf("cluster %q on host %q: letters, digits, dots, dashes and underscores", p.Cluster, p.Host)
	}
	return nil
}

// hostDir holds the places of a host, one for each cluster.
func (p Place) hostDir() string { return filepath.Join(p.base(), p.Host) }

func (p Place) base() string {
	if p.Base != "" {
		return p.Base
	}
	return filepath.Join(xdg.StateHome, "ssmctl", "hosts")
}

func (p Place) dir() string { return filepath.Join(p.hostDir(), p.Cluster) }

// State is where the place's bricks are recorded.
func (p Place) State(notices func(string)) *State { return OpenState(p.dir(), notices) }

// TakenError says that the bricks of another cluster run on a host.
type TakenError struct {
	Place Place // of the other
	Err   *RunningError
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s of cluster %s run on %s: stop that one first: ssmctl clean --hosts FILE, with the inventory that it was started from", join(e.Err.IDs), e.Place.Cluster, e.Place.Host)
}

// Unwrap returns which bricks.
func (e *TakenError) Unwrap() error { return e.Err }

// claim refuses a host on which another cluster's bricks run, with a *TakenError, and
// keeps every other ssmctl from claiming it until it is released.
func (p Place) claim() (release func(), err error) {
	host := OpenState(p.hostDir(), nil)
	if err := host.make(); err != nil {
		return nil, err
	}
	f, err := grab(filepath.Join(host.dir, claimLock))
	if err != nil {
		return nil, fmt.Errorf("bricks are being started on %s: %w", p.Host, err)
	}
	release = func() { _ = f.Close() } // which unlocks it
	err = sign(f, "cluster "+p.Cluster)
	if err == nil {
		err = p.refuseOthers()
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func (p Place) refuseOthers() error {
	others, err := p.others()
	if err != nil {
		return err
	}
	for _, other := range others {
		records, err := other.State(nil).Records()
		if err != nil {
			return err
		}
		running, _, err := divide(records)
		if err != nil {
			return err
		}
		if len(running) > 0 {
			return &TakenError{Place: other, Err: &RunningError{IDs: idsOf(running)}}
		}
	}
	return nil
}

// Clusters lists the clusters that have a place on the host; that of p is not looked at.
func (p Place) Clusters() ([]string, error) {
	if !placeName.MatchString(p.Host) {
		return nil, fmt.Errorf("host %q: letters, digits, dots, dashes and underscores", p.Host)
	}
	all, err := Place{Host: p.Host, Base: p.Base}.others()
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].Cluster
	}
	return ids, err
}

// others returns the places of other clusters on the host.
func (p Place) others() ([]Place, error) {
	entries, err := os.ReadDir(p.hostDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &StateError{Path: p.hostDir(), Err: err, Hint: elsewhere}
	}
	var others []Place
	for _, e := range entries {
		if e.IsDir() && e.Name() != p.Cluster {
			others = append(others, Place{Cluster: e.Name(), Host: p.Host, Base: p.Base})
		}
	}
	return others, nil
}

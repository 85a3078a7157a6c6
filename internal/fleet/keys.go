package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// ErrExposed is the error of bricks that others could reach, with neither keys nor the
// wish for plaintext.
var ErrExposed = errors.New("not a loopback address, and there are no keys: whoever reached the bricks could read, change and command them")

var errForeign = errors.New("the bricks that run belong to another cluster, or one of both speaks plaintext: stop them first with ssmctl brick stop")

// Exposed reports whether what listens at host:port can be reached from other machines.
func Exposed(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	return err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// exposed reports whether the bricks need keys that they are not told to do without.
func (o *StartOptions) exposed() bool { return !o.Plaintext && Exposed(o.Listen) }

// handKeys puts the keys that were given into the orders.
func (o *StartOptions) handKeys(orders []Order) error {
	if len(o.Keys) == 0 {
		return nil
	}
	if len(o.Keys) != len(orders) {
		return fmt.Errorf("keys for %d bricks, and %d to start", len(o.Keys), len(orders))
	}
	for i := range orders {
		orders[i].Keys = &o.Keys[i]
	}
	return nil
}

// equipAndRaise starts a process for each order, with keys where they are due. The known
// are the records that stay: all bricks of a directory are of one cluster, or speak plaintext.
func (s *State) equipAndRaise(ctx context.Context, o *StartOptions, sum string, orders []Order, known []Record) (_ []Record, err error) {
	defer func() {
		if err != nil && len(known) == 0 {
			_ = s.removeKeys() // the next start does
		}
	}()
	if err := s.equip(o, orders, known); err != nil {
		return nil, err
	}
	return s.raise(ctx, sum, orders)
}

// equip gives keys to bricks that need some and have none yet.
func (s *State) equip(o *StartOptions, orders []Order, known []Record) error {
	if len(known) == 0 { // what is left of a cluster before
		if err := s.removeKeys(); err != nil {
			return err
		}
	}
	if err := o.handKeys(orders); err != nil {
		return err
	}
	there, err := KeysOf(known)
	if err != nil {
		return err
	}
	given := orders[0].Keys != nil
	switch {
	case len(known) == 0 && !given && o.exposed():
		return s.issue(orders, false)
	case len(known) == 0:
		return nil
	case there != nil && !given && !o.Plaintext:
		return s.issue(orders, true)
	case !there.Same(orders[0].Keys), there == nil && o.exposed():
		return errForeign
	}
	return nil
}

// issue makes members of this directory's own cluster: of the one there is, or of a new one.
func (s *State) issue(orders []Order, join bool) error {
	authority, err := s.authority(join)
	if err != nil {
		return err
	}
	for i := range orders {
		keys, err := authority.Issue(orders[i].ID.String())
		if err != nil {
			return err
		}
		orders[i].Keys = &keys
	}
	return nil
}

func (s *State) authority(join bool) (*secure.Authority, error) {
	if join {
		a, err := secure.Kept(s.authorityPath())
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errForeign
		}
		return a, err
	}
	a, err := secure.NewAuthority()
	if err != nil {
		return nil, err
	}
	return a, a.Keep(s.authorityPath())
}

func (s *State) keysDir() string       { return filepath.Join(s.dir, "keys") }
func (s *State) authorityPath() string { return filepath.Join(s.keysDir(), "authority.pem") }

// pruneKeys forgets the directory's cluster when no brick is left of it.
func (s *State) pruneKeys() error {
	records, err := s.Records()
	if err != nil || len(records) > 0 {
		return err
	}
	return s.removeKeys()
}

func (s *State) removeKeys() error {
	if err := os.RemoveAll(s.keysDir()); err != nil {
		return &StateError{Path: s.keysDir(), Err: err, Hint: elsewhere}
	}
	return nil
}

// KeysOf returns the keys by which the bricks recorded are spoken to: those of one of
// them, for members are alike. Nil is plaintext. Bricks of different clusters are an error.
func KeysOf(records []Record) (*secure.Keys, error) {
	var keys *secure.Keys
	for i := range records {
		r := &records[i]
		if !records[0].Keys.Same(r.Keys) {
			return nil, fmt.Errorf("%s and %s are of different clusters: stop one of them with ssmctl brick stop", records[0].ID, r.ID)
		}
		keys = r.Keys
	}
	return keys, nil
}

// ClientOf returns what gives orders to the bricks recorded.
func ClientOf(records []Record) (remote.Client, error) {
	keys, err := KeysOf(records)
	if err != nil {
		return remote.Client{}, err
	}
	return remote.NewClient(keys)
}

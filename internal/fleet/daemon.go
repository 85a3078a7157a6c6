package fleet

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// StartOptions say which bricks to start.
type StartOptions struct {
	Count      int
	First      session.BrickID // number of the first; 0 is the lowest that are free
	Listen     string          // as Addresses takes it
	Add        bool            // start them beside those that run already
	Profile    profile.Profile
	Protection protect.Setting
	Memory     int64 // of each, in bytes; 0 is the default of a brick
	Inbox      int64 // of each, in bytes; 0 is the default of a brick
	Plaintext  bool  // without keys, even beyond loopback
	// Keys are of a cluster that is kept elsewhere, for each brick its own. With none, bricks
	// beyond loopback become members of a cluster that this state directory keeps.
	Keys []secure.Keys
}

// Start starts bricks, each a process of its own that outlives this one. Either all
// of them run and are recorded when it returns, or none; that holds too if this process is
// killed on the way. A *RunningError says that there are bricks already, a *StartError why one
// did not start.
func (s *State) Start(ctx context.Context, o StartOptions) ([]Record, error) {
	addrs, err := Addresses(o.Listen, o.Count)
	if err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := s.clear(o.Add)
	if err != nil {
		return nil, err
	}
	sum, err := s.keepBinary()
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.pruneBinaries() }() // the next start tries again
	orders := o.orders(o.ids(known), addrs)
	for i := range orders {
		_ = os.Remove(s.logPath(orders[i].ID)) // of a brick before it, if there was one
	}
	records, err := s.equipAndRaise(ctx, &o, sum, orders, known)
	if err != nil {
		for i := range orders {
			_ = s.forget(orders[i].ID) // whatever stays names a process that is gone
			_ = os.Remove(s.logPath(orders[i].ID))
		}
	}
	return records, err
}

// clear makes way for a start and returns the records that stay. Unless bricks are to
// be added, there may be none that run, and those of dead ones are removed.
func (s *State) clear(add bool) ([]Record, error) {
	known, err := s.Records()
	if err != nil || add {
		return known, err
	}
	running, dead, err := divide(known)
	if err != nil {
		return nil, err
	}
	if len(running) > 0 {
		return nil, &RunningError{IDs: idsOf(running)}
	}
	for i := range dead {
		s.notice("%s had ended without being stopped: its record is removed", dead[i].ID)
		if err := s.forget(dead[i].ID); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func divide(records []Record) (running, dead []Record, err error) {
	for i := range records {
		alive, err := records[i].Alive()
		switch {
		case err != nil:
			return nil, nil, err
		case alive:
			running = append(running, records[i])
		default:
			dead = append(dead, records[i])
		}
	}
	return running, dead, nil
}

func (o *StartOptions) ids(known []Record) []session.BrickID {
	if o.First == 0 {
		return freeIDs(known, o.Count)
	}
	ids := make([]session.BrickID, o.Count)
	for i := range ids {
		ids[i] = o.First + session.BrickID(i)
	}
	return ids
}

func freeIDs(known []Record, n int) []session.BrickID {
	taken := idsOf(known)
	ids := make([]session.BrickID, 0, n)
	for id := session.BrickID(1); len(ids) < n; id++ {
		if !slices.Contains(taken, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (o *StartOptions) orders(ids []session.BrickID, addrs []string) []Order {
	orders := make([]Order, len(ids))
	for i := range orders {
		orders[i] = Order{
			ID: ids[i], Listen: addrs[i], Profile: o.Profile, Protection: o.Protection.String(),
			Memory: o.Memory, Inbox: o.Inbox,
		}
	}
	return orders
}

// Addresses returns where n bricks listen that are told to listen at host:port: with
// port 0 each on any free one, else on that port and those after it.
func Addresses(listen string, n int) ([]string, error) {
	host, portText, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("%q is not HOST:PORT: write 127.0.0.1:0 for free ports, or 127.0.0.1:7001", listen)
	}
	first, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%q is not a port: choose 1 to 65535, or 0 for free ones", portText)
	}
	const last = 1<<16 - 1
	if first > 0 && int(first)+n-1 > last {
		return nil, fmt.Errorf("%d ports from %d on go beyond %d: choose a lower first port", n, first, last)
	}
	addrs := make([]string, n)
	for i := range addrs {
		port := int(first)
		if first > 0 {
			port += i
		}
		addrs[i] = net.JoinHostPort(host, strconv.Itoa(port))
	}
	return addrs, nil
}

// Roster is the bricks that run.
type Roster struct {
	Profile profile.Profile   // of all of them
	Bricks  []remote.Brick    // in the order of their ids
	Keys    *secure.Keys      // to speak with them; nil is plaintext
	Dead    []session.BrickID // recorded, but ended without being stopped
}

// Running returns the bricks that run; an empty roster if there are none. Bricks of
// different profiles are an error.
func (s *State) Running() (*Roster, error) {
	records, err := s.Records()
	if err != nil {
		return nil, err
	}
	running, dead, err := divide(records)
	if err != nil {
		return nil, err
	}
	keys, err := KeysOf(running)
	if err != nil {
		return nil, err
	}
	roster := &Roster{Keys: keys, Dead: idsOf(dead)}
	for i := range running {
		first, r := &running[0], &running[i]
		if !first.Profile.Same(&r.Profile) {
			return nil, fmt.Errorf("the running bricks differ: %s has profile %s, %s another one, %s: stop one kind of them with ssmctl brick stop",
				first.ID, first.Profile.Name, r.ID, r.Profile.Name)
		}
		roster.Profile = first.Profile
		roster.Bricks = append(roster.Bricks, r.Brick())
	}
	return roster, nil
}

package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

const (
	termWithin = 3 * time.Second // how long a brick may take to end when asked to
	killWithin = 5 * time.Second // how long the system may take to end one by force
)

var (
	errStubborn = errors.New("still there after SIGTERM")
	errStuck    = errors.New("still there after SIGKILL: the system does not let go of it: try again later")
)

// Ending says how a brick was brought to its end.
type Ending string

// The endings.
const (
	Stopped Ending = "stopped"
	Killed  Ending = "killed, for it did not stop when asked"
	WasGone Ending = "was gone already, its stale record is removed"
)

// Ended is a brick that no longer runs and is no longer recorded.
type Ended struct {
	Record
	How Ending
}

// Stop ends the bricks named, or all if none is, and removes their records. An id that
// there is not is an *UnknownError, and then nothing is stopped. It returns those that ended
// even when there is an error about others.
func (s *State) Stop(ctx context.Context, ids ...session.BrickID) ([]Ended, error) {
	if ok, err := s.exists(); !ok {
		return nil, errors.Join(err, unknown(ids))
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	records, err := s.Records()
	if err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		if records, err = choose(records, ids); err != nil {
			return nil, err
		}
	}
	ended, err := s.endAll(ctx, records)
	return ended, errors.Join(err, s.pruneBinaries(), s.pruneKeys())
}

func unknown(ids []session.BrickID) error {
	if len(ids) == 0 {
		return nil
	}
	return &UnknownError{ID: ids[0]}
}

func choose(records []Record, ids []session.BrickID) ([]Record, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	chosen := make([]Record, len(ids))
	for i, id := range ids {
		var err error
		if chosen[i], err = find(records, id); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

func (s *State) endAll(ctx context.Context, records []Record) ([]Ended, error) {
	how := make([]Ending, len(records))
	errs := make([]error, len(records))
	var all sync.WaitGroup
	for i := range records {
		all.Go(func() {
			if how[i], errs[i] = records[i].end(ctx); errs[i] == nil {
				errs[i] = s.forget(records[i].ID)
			}
		})
	}
	all.Wait()
	var ended []Ended
	for i := range records {
		if errs[i] == nil {
			ended = append(ended, Ended{Record: records[i], How: how[i]})
		}
	}
	return ended, errors.Join(errs...)
}

// end asks the process to end, makes it end if it does not, and waits until it has.
func (r *Record) end(ctx context.Context) (Ending, error) {
	switch err := r.Signal(syscall.SIGTERM); {
	case errors.Is(err, ErrGone):
		return WasGone, nil
	case err != nil:
		return "", err
	}
	err := r.goneWithin(ctx, termWithin, errStubborn)
	if !errors.Is(err, errStubborn) {
		return Stopped, err
	}
	if err := r.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, ErrGone) {
		return "", err
	}
	return Killed, r.goneWithin(ctx, killWithin, errStuck)
}

func (r *Record) goneWithin(ctx context.Context, d time.Duration, late error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d, late)
	defer cancel()
	if err := r.gone(ctx); err != nil {
		return fmt.Errorf("%s (pid %d): %w", r.ID, r.PID, err)
	}
	return nil
}

// Restart starts a brick again with the id, address, profile and bounds that it had,
// after stopping it if it runs. It takes on the protection of the other bricks if they agree. If
// it does not come up again its record stays, to try again.
func (s *State) Restart(ctx context.Context, id session.BrickID) (Record, error) {
	return s.RestartUnder(ctx, id, "")
}

// RestartUnder is Restart with a protection that the caller knows to be that of the others,
// some of which may be recorded elsewhere; "" is for those recorded here to say.
func (s *State) RestartUnder(ctx context.Context, id session.BrickID, protection string) (Record, error) {
	if ok, err := s.exists(); !ok {
		return Record{}, errors.Join(err, unknown([]session.BrickID{id}))
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return Record{}, err
	}
	defer unlock()
	records, err := s.Records()
	if err != nil {
		return Record{}, err
	}
	old, err := find(records, id)
	if err != nil {
		return Record{}, err
	}
	order := old.Order
	order.Listen = old.Addr
	if order.Protection = protection; protection == "" {
		order.Protection = protectionFor(ctx, &old, records)
	}
	if _, err := old.end(ctx); err != nil {
		return Record{}, err
	}
	sum := old.BinarySHA256
	if _, err := os.Stat(s.binaryPath(sum)); err != nil {
		if sum, err = s.keepBinary(); err != nil {
			return Record{}, err
		}
	}
	started, err := s.raise(ctx, sum, []Order{order})
	if err != nil {
		return Record{}, errors.Join(err, s.save(&old))
	}
	return started[0], s.pruneBinaries()
}

// protectionFor returns the setting that the other running bricks have, or the one
// that the brick was started with if they have none in common.
func protectionFor(ctx context.Context, r *Record, records []Record) string {
	var others []remote.Brick
	for i := range records {
		if alive, err := records[i].Alive(); err == nil && alive && records[i].ID != r.ID {
			others = append(others, records[i].Brick())
		}
	}
	client, err := remote.NewClient(r.Keys)
	if err != nil {
		return r.Protection
	}
	answers, _ := remote.All(ctx, others, client.Status) // those that do not answer have no say
	answers = slices.DeleteFunc(answers, func(h wire.Heartbeat) bool { return h.Brick == 0 })
	if len(answers) == 0 {
		return r.Protection
	}
	setting := answers[0].Setting
	for _, h := range answers {
		if h.Setting != setting {
			return r.Protection
		}
	}
	return setting.String()
}

package fleet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Swept is what a sweep of a place has found and removed.
type Swept struct {
	Bricks []SweptBrick `json:"bricks,omitempty"`
	Agents []int        `json:"agents,omitempty"` // their pids
	Files  int          `json:"files"`            // records, logs, keys and copies of the program
	// Left is what is there all the same when the sweep looks again.
	Left []string `json:"left,omitempty"`
}

// SweptBrick is a brick and how it ended, or what it does, in words.
type SweptBrick struct {
	ID  string `json:"id"`
	How string `json:"how"`
}

func (s *Swept) brick(r *Record, how string) {
	s.Bricks = append(s.Bricks, SweptBrick{ID: r.ID.String(), How: how})
}

// None reports whether there was nothing.
func (s *Swept) None() bool { return len(s.Bricks)+len(s.Agents)+s.Files == 0 }

// unlockWithin is how long the locks of a place of which nothing runs are waited for.
const unlockWithin = time.Second

// agentsWithin is how long killed agents may take to be gone.
const agentsWithin = 5 * time.Second

// Sweep ends whatever of the cluster runs at the place, removes all that it has left there,
// and looks again. A place that is empty or was never used is no error. With dry, nothing
// is touched and the answer says what there is.
func (p Place) Sweep(ctx context.Context, dry bool) (*Swept, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	swept := &Swept{}
	state := p.State(nil)
	if ok, err := state.exists(); !ok {
		if err == nil && !dry {
			p.removeEmpty()
		}
		return swept, err
	}
	swept.Files = countFiles(state.dir)
	if dry {
		return swept, p.look(state, swept)
	}
	ended, err := state.Stop(ctx) // waits for a start that is under way
	for i := range ended {
		swept.brick(&ended[i].Record, string(ended[i].How))
	}
	if err != nil {
		return swept, err
	}
	if err := state.endAgents(ctx, swept); err != nil {
		return swept, err
	}
	if err := os.RemoveAll(state.dir); err != nil {
		return swept, &StateError{Path: state.dir, Err: err, Hint: elsewhere}
	}
	p.removeEmpty()
	return swept, p.lookAgain(swept)
}

// look lists what there is.
func (p Place) look(state *State, swept *Swept) error {
	records, err := state.Records()
	if err != nil {
		return err
	}
	running, dead, err := divide(records)
	if err != nil {
		return err
	}
	for i := range running {
		swept.brick(&running[i], fmt.Sprintf("runs (pid %d)", running[i].PID))
	}
	for i := range dead {
		swept.brick(&dead[i], "has ended without being stopped")
	}
	agents, err := state.agents()
	for _, a := range agents {
		swept.Agents = append(swept.Agents, a.PID)
	}
	return err
}

// endAgents kills the agents that still run and waits until they are gone.
func (s *State) endAgents(ctx context.Context, swept *Swept) error {
	agents, err := s.agents()
	if err != nil {
		return err
	}
	for i := range agents {
		if err := agents[i].kill(); err != nil {
			return err
		}
		swept.Agents = append(swept.Agents, agents[i].PID)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, agentsWithin, errStuck)
	defer cancel()
	look := time.NewTicker(lockRetry)
	defer look.Stop()
	for i := range agents {
		for agents[i].check() == nil {
			select {
			case <-ctx.Done():
				return fmt.Errorf("agent (pid %d): %w", agents[i].PID, context.Cause(ctx))
			case <-look.C:
			}
		}
	}
	return nil
}

func countFiles(dir string) (n int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil // what cannot be read is removed all the same, or said then
	})
	return n
}

// removeEmpty removes the directories above the place unless they are of use: the claims
// and reservations in them are files that mean nothing while nobody holds them.
func (p Place) removeEmpty() {
	others, err := p.others()
	if err != nil || len(others) > 0 {
		return
	}
	for _, name := range []string{claimLock, loadLock} {
		// One that was killed may be gone before all its threads are, which hold what it held.
		for deadline := time.Now().Add(unlockWithin); !removeLock(filepath.Join(p.hostDir(), name)) && time.Now().Before(deadline); {
			time.Sleep(lockRetry)
		}
	}
	_ = os.Remove(p.hostDir()) // fails while there is something in it
	_ = os.Remove(p.base())
	if p.Base == "" {
		_ = os.Remove(filepath.Dir(p.base())) // of all that ssmctl keeps
	}
}

// lookAgain finds what is left: files, and processes that name the cluster and the host.
func (p Place) lookAgain(swept *Swept) error {
	if _, err := os.Lstat(p.dir()); !errors.Is(err, fs.ErrNotExist) {
		swept.Left = append(swept.Left, p.dir())
	}
	there, err := processesOf(p.pattern())
	for _, pid := range there {
		swept.Left = append(swept.Left, fmt.Sprintf("process %d", pid))
	}
	return err
}

// pattern finds the arguments of the place's bricks and agents, and no others'.
func (p Place) pattern() *regexp.Regexp {
	cluster, host := regexp.QuoteMeta(p.Cluster), regexp.QuoteMeta(p.Host)
	return regexp.MustCompile(fmt.Sprintf(`/%s/%s/bin/\S* brick serve | agent --cluster %s --host %s `, host, cluster, cluster, host))
}

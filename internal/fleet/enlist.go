package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/renameio/v2"
)

// agentRecord is a load agent that runs at a place. It is there as long as the agent is; one
// whose process is gone was killed.
type agentRecord struct {
	PID          int    `json:"pid"`
	ProcessStart string `json:"process_start"` // as the system names it; with PID it is one process only
}

const agentPrefix = "agent-"

// Enlist records this process as an agent of the place until leave is called. The one that
// is to reserve the host for its load refuses a host that another load uses.
func (p Place) Enlist(reserve bool) (leave func(), err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	release := func() {}
	if reserve {
		host := OpenState(p.hostDir(), nil)
		if err := host.make(); err != nil {
			return nil, err
		}
		if release, err = host.occupy("cluster " + p.Cluster); err != nil {
			return nil, fmt.Errorf("a load on %s: %w: wait for it or stop it", p.Host, err)
		}
	}
	path, err := p.enlist()
	if err != nil {
		release()
		return nil, err
	}
	return func() {
		_ = os.Remove(path) // what stays is a record of a process that is gone
		release()
	}, nil
}

func (p Place) enlist() (path string, err error) {
	state := p.State(nil)
	if err := state.make(); err != nil {
		return "", err
	}
	self, err := inspect(os.Getpid())
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(agentRecord{PID: os.Getpid(), ProcessStart: self.start})
	if err != nil {
		return "", err
	}
	path = filepath.Join(state.dir, fmt.Sprintf("%s%d%s", agentPrefix, os.Getpid(), recordSuffix))
	if err := renameio.WriteFile(path, text, recordMode, renameio.WithTempDir(state.dir)); err != nil {
		return "", &StateError{Path: path, Err: err, Hint: elsewhere}
	}
	return path, nil
}

// agents returns the agents that are recorded and run.
func (s *State) agents() ([]agentRecord, error) {
	paths, err := filepath.Glob(filepath.Join(s.dir, agentPrefix+"*"+recordSuffix))
	if err != nil {
		return nil, err
	}
	var running []agentRecord
	for _, path := range paths {
		var r agentRecord
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has just ended
		}
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return nil, &StateError{Path: path, Err: err, Hint: "see to its process, then remove it"}
		}
		switch err := r.check(); {
		case err == nil:
			running = append(running, r)
		case !errors.Is(err, ErrGone):
			return nil, err
		}
	}
	return running, nil
}

// check is nil if the pid is held by the agent that was recorded.
func (r *agentRecord) check() error {
	p, err := inspect(r.PID)
	if err != nil {
		return err
	}
	if p.start != r.ProcessStart || !strings.Contains(p.command+" ", " agent ") {
		return fmt.Errorf("%w: pid %d is another process by now", ErrGone, r.PID)
	}
	return nil
}

// kill ends an agent at once: its load is not wanted any more, and it keeps nothing.
func (r *agentRecord) kill() error {
	handle, err := os.FindProcess(r.PID)
	if err != nil {
		return fmt.Errorf("agent (pid %d): %w", r.PID, err)
	}
	defer func() { _ = handle.Release() }() // it cannot fail in a way that matters
	err = r.check()
	if err == nil {
		err = handle.Signal(syscall.SIGKILL)
	}
	if err == nil || errors.Is(err, ErrGone) || errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return fmt.Errorf("agent (pid %d): %w", r.PID, err)
}

package loadgen

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// Watcher is told of every attempt of a machine, those of the audit included, and by
// whom it is made: for a check from outside. It must not change what it is shown, nor keep it.
type Watcher interface {
	// Began tells of an attempt that the stub is about to be asked for. Its tag is the
	// user's number, or for the audit above all of them.
	Began(now time.Duration, machine int, a stub.Attempt)
	// Ended tells of its end, before the user knows.
	Ended(now time.Duration, machine int, d *stub.Completion)
}

// View returns what the machine's stub knows of a brick.
func (m *Machine) View(id session.BrickID) stub.View { return m.stub.View(id) }

package fleet

import (
	"fmt"
	"strings"

	"github.com/ssmctl/ssmctl/internal/session"
)

// RunningError says that bricks run where none were expected.
type RunningError struct {
	IDs []session.BrickID
}

func (e *RunningError) Error() string {
	verb := "run"
	if len(e.IDs) == 1 {
		verb = "runs"
	}
	return fmt.Sprintf("%s %s already: end that with ssmctl brick stop, or start more with --add", join(e.IDs), verb)
}

// UnknownError says that there is no such brick, and which there are.
type UnknownError struct {
	ID    session.BrickID
	Known []session.BrickID
}

func (e *UnknownError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("no %s: no bricks are running here: ssmctl brick start --count 8; --hosts FILE is for those on other machines", e.ID)
	}
	return fmt.Sprintf("no %s: choose %s", e.ID, join(e.Known))
}

// StartError says why a brick did not start.
type StartError struct {
	ID  session.BrickID
	Err error
	Log []string // the last lines of its log, if they say more than Err
}

func (e *StartError) Error() string {
	text := fmt.Sprintf("%s did not start: %v", e.ID, e.Err)
	if len(e.Log) > 0 {
		text += "; its log ends:\n  " + strings.Join(e.Log, "\n  ")
	}
	return text
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// join writes ids shortly: all of a few, the ends of many.
func join(ids []session.BrickID) string {
	const few = 8
	if n := len(ids); n > few {
		return fmt.Sprintf("%s..%s (%d bricks)", ids[0], ids[n-1], n)
	}
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return strings.Join(names, ", ")
}

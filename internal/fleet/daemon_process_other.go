//go:build !linux

package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// inspect asks ps for what it says of a pid. The error is ErrGone if no process has it,
// or one that has ended and not been waited for.
func inspect(pid int) (process, error) {
	ps := exec.Command("ps", "-ww", "-o", "state=,lstart=,command=", "-p", strconv.Itoa(pid))
	ps.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	text, err := ps.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return process{}, fmt.Errorf("%w: no pid %d", ErrGone, pid)
	case err != nil:
		return process{}, fmt.Errorf("pid %d: %w", pid, err)
	}
	// A state, a start of five words such as Mon Nov 30 16:28:00 2026, and the command.
	const startWords = 5
	fields := strings.Fields(string(text))
	if len(fields) <= startWords || strings.HasPrefix(fields[0], "Z") {
		return process{}, fmt.Errorf("%w: pid %d has ended", ErrGone, pid)
	}
	return process{
		start:   strings.Join(fields[1:1+startWords], " "),
		command: strings.Join(fields[1+startWords:], " "),
	}, nil
}

package agent

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/ssmctl/ssmctl/internal/clock"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// reading is what the counters of this process, its machines and its host say at an
// instant; figures are differences of two.
type reading struct {
	at     time.Duration
	own    time.Duration // processor time of this process
	host   hostTime
	copies stub.Counts // of all machines together
}

func (l *level) take() reading {
	r := reading{at: clock.Now(), own: processorTime(), host: readHostTime()}
	for _, m := range l.machines {
		m.read(func(core *loadgen.Machine) {
			c := core.Copies()
			r.copies.Writes += c.Writes
			r.copies.Begun += c.Begun
			r.copies.Sent += c.Sent
			r.copies.Acked += c.Acked
		})
	}
	return r
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0 // never, for this process itself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// hostTime is the time of all cores of the host, in ticks of the system.
type hostTime struct{ total, idle uint64 }

// readHostTime returns zeros where the system does not say.
func readHostTime() hostTime {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return hostTime{}
	}
	return parseHostTime(text)
}

// parseHostTime reads the first line of /proc/stat: "cpu", then ticks in user, nice,
// system, idle and iowait mode, and more modes that are all busy ones; see proc(5).
func parseHostTime(text []byte) (h hostTime) {
	const idle, waiting, guest = 3, 4, 8
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) <= waiting || string(fields[0]) != "cpu" {
		return hostTime{}
	}
	for i, f := range fields[1:] {
		ticks, err := strconv.ParseUint(string(f), 10, 64)
		switch {
		case err != nil:
			return hostTime{}
		case i >= guest: // counted as user time already
			return h
		case i == idle || i == waiting:
			h.idle += ticks
		}
		h.total += ticks
	}
	return h
}

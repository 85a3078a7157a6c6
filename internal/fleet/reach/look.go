package reach

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/fleet/facts"
)

// lookWithin bounds how long a host that was reached may take for its facts.
const lookWithin = 20 * time.Second

// Look is what is found on a host.
type Look struct {
	Facts facts.Facts
	Clock *facts.Clock // nil if ssmctl does not run there
}

// Look asks ssmctl there for its facts. If that cannot be shipped or run, the error says
// why, and the facts are what the host's own uname has to say; nil if it was not reached.
func (h *Host) Look(ctx context.Context) (*Look, error) {
	if err := h.connect(ctx); err != nil {
		return nil, err
	}
	argv, err := h.Program(ctx, "host-facts")
	if err != nil {
		return h.plainLook(ctx), err
	}
	p, err := h.Start(ctx, nil, argv...)
	if err != nil {
		return h.plainLook(ctx), err
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() }) // it has ended in the meantime, if this fails
	found, clock, err := facts.Ask(p.In, p.Out)
	stop()
	closing := p.Close()
	if closing != nil {
		err = closing // it says why there was no answer
	}
	if err != nil {
		return h.plainLook(ctx), err
	}
	l := &Look{Facts: found, Clock: &clock}
	if wrong := found.State.Wrong(); found.State.Dir != "" && wrong != "" {
		return l, fmt.Errorf("%s: %s: name a place of its user's own in its entry: env: {XDG_STATE_HOME: /var/tmp/ssmctl-state}", h.Name, wrong)
	}
	return l, nil
}

// plainLook takes what it can get without ssmctl.
func (h *Host) plainLook(ctx context.Context) *Look {
	l := &Look{}
	out, err := h.Run(ctx, nil, "sh", "-c", "uname -sm; uname -r; getconf _NPROCESSORS_ONLN; id -u")
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) < 4 {
		return l
	}
	l.Facts.OS, l.Facts.Arch = SystemOf(lines[0])
	l.Facts.Kernel = lines[1]
	l.Facts.Cores, _ = strconv.Atoi(lines[2]) // 0 is: not known
	l.Facts.Root = lines[3] == "0"
	return l
}

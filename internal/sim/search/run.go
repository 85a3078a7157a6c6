package search

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/ssmctl/ssmctl/internal/sim"
)

// Run runs a case and checks it. It returns the first violation, or nil, and how many
// events the check has seen. The error is that of a case that cannot be, or of ctx.
func Run(ctx context.Context, c *Case) (*Violation, uint64, error) { return run(ctx, c, nil) }

// Trace is Run that writes a line for every event.
func Trace(ctx context.Context, c *Case, w io.Writer) (*Violation, error) {
	v, _, err := run(ctx, c, w)
	return v, err
}

func run(ctx context.Context, c *Case, all io.Writer) (v *Violation, events uint64, err error) {
	cfg, err := c.config()
	if err != nil {
		return nil, 0, err
	}
	k := newChecker(c)
	k.trace.all = all
	cfg.Witness = k
	defer func() {
		events = k.sights
		if thrown := recover(); thrown != nil {
			v, err = k.caught(thrown), nil
		}
	}()
	level, err := sim.Level(ctx, cfg, c.point())
	if err == nil {
		k.checkRow(&level)
	}
	return nil, 0, err
}

// caught makes a violation of what came through the engine: the check's own, or a panic of
// the code under test.
func (k *checker) caught(thrown any) *Violation {
	s, own := thrown.(stop)
	if !own {
		s = stop{Violation{Invariant: Running, At: k.now - k.epoch, Text: fmt.Sprintf("panic: %v, in %s", thrown, callers()), machine: -1}}
	}
	s.Trace = k.trace.last(&s.Violation)
	return &s.Violation
}

// callers names the functions of this module that were at work at a panic, the innermost first.
func callers() string {
	const most = 6
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var names []string
	for len(names) < most {
		f, more := frames.Next()
		if _, name, ours := strings.Cut(f.Function, "/ssmctl/internal/"); ours && !strings.HasPrefix(name, "sim/search") {
			names = append(names, name)
		}
		if !more {
			break
		}
	}
	return strings.Join(names, " < ")
}

package reach

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

// Host is one host and the way there.
type Host struct {
	inventory.Host

	way     *Way
	form    form
	words   []string // of the way, the placeholders filled in
	target  int      // where the host is named among them; -1 if it is not
	masters masters  // of openSSH
	ship    struct {
		sync.Mutex
		path string // "" before it has been shipped
	}
}

func newHost(w *Way, entry *inventory.Host) (*Host, error) {
	h := &Host{Host: *entry, way: w}
	h.Identity = expandHome(h.Identity)
	var err error
	if h.words, h.target, err = h.Command(); err != nil {
		return nil, fmt.Errorf("%s: via: %w", h.Name, err)
	}
	h.form = formOf(h.words)
	h.masters.lock = make(chan struct{}, 1)
	return h, nil
}

// Run runs a program there and returns its standard output. No standard input is an
// empty one. If it does not run, or does not exit with 0, the error is a *CommandError.
// Only making the connection is retried, never the program. It ends with ctx here; there
// it loses its standard input and output.
func (h *Host) Run(ctx context.Context, stdin io.Reader, argv ...string) ([]byte, error) {
	s, err := h.session(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release()
	cmd := h.command(ctx, s, argv)
	var out bytes.Buffer
	errs := &tail{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, errs
	err = cmd.Run()
	if ctx.Err() != nil {
		return out.Bytes(), ctx.Err()
	}
	if err != nil {
		return out.Bytes(), h.failure(argv, err, errs)
	}
	return out.Bytes(), nil
}

// Program returns what to run there to run ssmctl with these arguments, with the
// environment and the cpus of the host. The binary is shipped if it has not been.
func (h *Host) Program(ctx context.Context, args ...string) ([]string, error) {
	path, err := h.Ship(ctx)
	if err != nil {
		return nil, err
	}
	return h.ssmctl(path, args), nil
}

func (h *Host) ssmctl(path string, args []string) []string {
	var argv []string
	if len(h.Env) > 0 {
		argv = append(argv, "env")
		for _, name := range slices.Sorted(maps.Keys(h.Env)) {
			argv = append(argv, name+"="+h.Env[name])
		}
	}
	if h.CPUs != "" {
		argv = append(argv, "taskset", "-c", h.CPUs)
	}
	return append(append(argv, path), args...)
}

// Ssmctl runs ssmctl there, as Program says, and returns its standard output.
func (h *Host) Ssmctl(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	argv, err := h.Program(ctx, args...)
	if err != nil {
		return nil, err
	}
	return h.Run(ctx, stdin, argv...)
}

// connect makes the connection, if there is a lasting one, or sees whether a program runs there.
func (h *Host) connect(ctx context.Context) error {
	if h.form != openSSH {
		return retry(ctx, func() error {
			_, err := h.Run(ctx, nil, "true")
			return err
		})
	}
	s, err := h.session(ctx)
	if err != nil {
		return err
	}
	s.release()
	return nil
}

package reach

import (
	"context"
	_ "embed" // the script of the host's side
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
)

//go:embed ship.sh
var shipScript string

// The cache there: a directory for each SHA-256, with the program in it.
const (
	cachedName = "ssmctl"
	spareCache = "/tmp/ssmctl-" // and the number of the user: where the script goes if the home is of no use
)

// Ship sees to it that the ssmctl of the host is in the user's cache there, and returns
// its path. A binary that is there already, and whole, is not sent again. Both steps may be
// done twice, so they are retried. A binary of another system is an *ArchError.
func (h *Host) Ship(ctx context.Context) (string, error) {
	h.ship.Lock()
	defer h.ship.Unlock()
	if h.ship.path != "" {
		return h.ship.path, nil
	}
	b, err := h.way.binaries.of(expandHome(h.Binary))
	if err != nil {
		return "", fmt.Errorf("%s: %w", h.Name, err)
	}
	dir, whole, err := h.findCache(ctx, b)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(dir, spareCache) {
		h.way.notice("%s: the home of its user cannot hold a program: ssmctl is kept in %s", h.Name, dir)
	}
	if !whole {
		if err := h.put(ctx, b, dir); err != nil {
			return "", err
		}
	}
	h.ship.path = path.Join(dir, cachedName)
	return h.ship.path, nil
}

// Uncache removes every binary that was ever shipped to the user's caches there.
func (h *Host) Uncache(ctx context.Context) error {
	_, err := h.step(ctx, nil, "uncache")
	h.ship.Lock()
	defer h.ship.Unlock()
	h.ship.path = ""
	return err
}

// findCache returns the directory for the binary, and whether that is in it.
func (h *Host) findCache(ctx context.Context, b *binary) (dir string, whole bool, err error) {
	out, err := h.step(ctx, nil, "find", b.sum, b.systems())
	if err != nil {
		return "", false, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	switch {
	case len(lines) == 1 && lines[0] != "":
		return "", false, newArchError(h, b, lines[0])
	case len(lines) < 2 || !path.IsAbs(lines[1]):
		return "", false, fmt.Errorf("%s: unexpected answer %q: see what its shell prints when nobody types into it", h.Name, out)
	}
	return lines[1], len(lines) > 2, nil
}

// put streams the binary into the directory.
func (h *Host) put(ctx context.Context, b *binary, dir string) error {
	_, err := h.step(ctx, b.open, "put", b.sum, dir)
	return err
}

// step runs one of the script, each time with a standard input of its own.
func (h *Host) step(ctx context.Context, open func() (*os.File, error), args ...string) ([]byte, error) {
	var out []byte
	err := retry(ctx, func() error {
		var stdin io.Reader
		if open != nil {
			f, err := open()
			if err != nil {
				return fmt.Errorf("%s: read the binary to ship: %w", h.Name, err)
			}
			defer func() { _ = f.Close() }() // it was only read
			stdin = f
		}
		var err error
		out, err = h.Run(ctx, stdin, append([]string{"sh", "-c", shipScript, "sh"}, args...)...)
		return err
	})
	var failed *CommandError
	if errors.As(err, &failed) {
		failed.Line = h.line(lookAround) // the script is too long to be of use to a reader
	}
	return out, err
}

// lookAround is what a person runs who wants to see why something cannot be put there.
var lookAround = []string{"sh", "-c", "id; df -k ~ /tmp"}

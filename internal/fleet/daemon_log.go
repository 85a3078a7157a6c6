package fleet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ssmctl/ssmctl/internal/session"
)

// maxTail bounds what is read of a log, in bytes.
const maxTail = 4 << 20

// LogLines returns the last n lines of a brick's log, which is kept after the brick is
// stopped, until another one takes its id. If there is no log the error is an *UnknownError.
func (s *State) LogLines(id session.BrickID, n int) ([]string, error) {
	lines, err := LastLines(s.logPath(id), n)
	if !errors.Is(err, fs.ErrNotExist) {
		return lines, err
	}
	r, err := s.Record(id)
	if err != nil {
		return nil, err
	}
	return nil, &StateError{Path: r.Log, Err: fs.ErrNotExist, Hint: "restart the brick to have one again"}
}

// LastLines returns the last n lines of a file, of its last 4 MiB at most.
func LastLines(path string, n int) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxTail), maxTail))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r\n")
	}
	return lines[max(0, len(lines)-n):], nil
}

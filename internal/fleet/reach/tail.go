package reach

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// tailBytes and tailLines bound what is kept of a program's standard error.
const (
	tailBytes = 4096
	tailLines = 8
)

// tail keeps the end of what is written to it, and may pass everything on.
type tail struct {
	copy io.Writer // may be nil

	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - tailBytes; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	if t.copy != nil {
		_, _ = t.copy.Write(p) // where nobody listens the program still runs
	}
	return len(p), nil
}

// text returns what is kept.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ReplaceAll(string(bytes.ToValidUTF8(t.kept, nil)), "\r", "")
	return strings.TrimSpace(text)
}

// lastLines shortens text to what people read.
func lastLines(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

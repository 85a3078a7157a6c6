package wire

import (
	"errors"
	"io"
	"sync"
)

// DefaultBacklog bounds what may wait for a peer that does not read, in bytes.
const DefaultBacklog = 64 << 20

// ErrBacklog ends a connection whose peer has stopped reading.
var ErrBacklog = errors.New("the peer does not read")

// keepBuffer is the largest buffer that a Writer keeps when it has nothing to do.
const keepBuffer = 1 << 20

// Writer batches frames: whoever has one appends it, and one goroutine in Run
// writes all that is ready by one system call. Append never blocks on the connection.
type Writer struct {
	mu     sync.Mutex
	ready  sync.Cond
	buf    []byte
	err    error
	closed bool
}

// NewWriter returns a writer; nothing is written until Run.
func NewWriter() *Writer {
	w := &Writer{}
	w.ready.L = &w.mu
	return w
}

// Append lets encode append frames to what waits. It returns the error that ended
// the connection, if one has.
func (w *Writer) Append(encode func([]byte) []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	if w.buf = encode(w.buf); len(w.buf) > DefaultBacklog+maxFrame {
		w.err = ErrBacklog
	}
	w.ready.Signal()
	return w.err
}

// Close makes Run return once all that waits is written.
func (w *Writer) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.ready.Signal()
}

// Fail makes Run return at once.
func (w *Writer) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.ready.Signal()
}

// Run writes to dst until Close, Fail or an error of dst, which it returns.
func (w *Writer) Run(dst io.Writer) error {
	var out []byte
	for {
		w.mu.Lock()
		for len(w.buf) == 0 && w.err == nil && !w.closed {
			w.ready.Wait()
		}
		if w.err != nil || len(w.buf) == 0 {
			defer w.mu.Unlock()
			return w.err
		}
		out, w.buf = w.buf, out[:0]
		w.mu.Unlock()
		if _, err := dst.Write(out); err != nil {
			w.Fail(err)
			return err
		}
		if cap(out) > keepBuffer {
			out = nil
		}
	}
}

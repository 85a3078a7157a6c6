package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// readBuffer is how much a Reader takes from its connection at once.
const readBuffer = 64 << 10

// Reader takes frames off a connection. It is not safe for concurrent use.
type Reader struct {
	src   *bufio.Reader
	frame []byte // the last frame when it did not fit the buffer
	skip  int    // of the last frame when it did
}

// NewReader returns a reader of src.
func NewReader(src io.Reader) *Reader { return &Reader{src: bufio.NewReaderSize(src, readBuffer)} }

// Next returns the next frame; the body is valid until the next call. At the
// orderly end of the connection the error is io.EOF; a broken frame's wraps ErrProtocol.
func (r *Reader) Next() (Kind, []byte, error) {
	if _, err := r.src.Discard(r.skip); err != nil {
		return 0, nil, fmt.Errorf("read frame: %w", err)
	}
	r.skip = 0
	head, err := r.src.Peek(lengthBytes)
	if err != nil {
		if len(head) == 0 && errors.Is(err, io.EOF) {
			return 0, nil, io.EOF
		}
		return 0, nil, fmt.Errorf("read frame: %w", unexpected(err))
	}
	n := int(le.Uint32(head))
	if n < 1 || n > maxFrame {
		return 0, nil, protocolError("a frame of %d bytes", n)
	}
	frame, err := r.body(n)
	if err != nil {
		return 0, nil, fmt.Errorf("read frame: %w", err)
	}
	return Kind(frame[0]), frame[1:], nil
}

// body returns n bytes behind the length: in place when they fit the buffer, else
// in memory of their own that grows only as fast as bytes arrive.
func (r *Reader) body(n int) ([]byte, error) {
	if lengthBytes+n <= readBuffer {
		all, err := r.src.Peek(lengthBytes + n)
		if err != nil {
			return nil, unexpected(err)
		}
		r.skip = len(all)
		return all[lengthBytes:], nil
	}
	if _, err := r.src.Discard(lengthBytes); err != nil {
		return nil, unexpected(err)
	}
	r.frame = r.frame[:0]
	for len(r.frame) < n {
		step := min(n-len(r.frame), max(readBuffer, len(r.frame)))
		at := len(r.frame)
		r.frame = append(r.frame, make([]byte, step)...)
		if _, err := io.ReadFull(r.src, r.frame[at:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return r.frame, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Pending reports whether more bytes wait that need no system call.
func (r *Reader) Pending() bool { return r.src.Buffered() > r.skip }

package secure

import (
	"net"
	"sync"
)

// flushAt bounds what a batch holds back, in bytes.
const flushAt = 128 << 10

// batch is a connection under TLS that joins the records of one write: TLS would have a
// system call for each, of 16 KiB at most.
type batch struct {
	net.Conn
	mu   sync.Mutex // TLS also writes on behalf of its reader: alerts, new keys
	held bool
	buf  []byte
}

// begin holds back what is written until end.
func (b *batch) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = true
}

// end writes what was held back.
func (b *batch) end() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = false
	return b.flush()
}

// Write implements net.Conn.
func (b *batch) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.held {
		return b.Conn.Write(p)
	}
	b.buf = append(b.buf, p...)
	if len(b.buf) < flushAt {
		return len(p), nil
	}
	return len(p), b.flush()
}

func (b *batch) flush() error {
	if len(b.buf) == 0 {
		return nil
	}
	_, err := b.Conn.Write(b.buf)
	b.buf = b.buf[:0]
	return err
}

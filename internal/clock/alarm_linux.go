package clock

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// fdRinger is a ringer of a timerfd: a descriptor that the runtime waits for as it
// waits for sockets, and that the kernel makes ready to the microsecond.
type fdRinger struct {
	file   *os.File
	raw    int
	mu     sync.Mutex // keeps the descriptor open while it is set
	closed bool
	reader sync.WaitGroup
}

// newRinger falls back to Go's own timers when the process is out of descriptors.
func newRinger(due func()) ringer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newTimerRinger(due)
	}
	r := &fdRinger{file: os.NewFile(uintptr(fd), "timerfd"), raw: fd}
	r.reader.Go(func() {
		var expirations [8]byte
		for {
			if _, err := r.file.Read(expirations[:]); err != nil {
				return // closed
			}
			due()
		}
	})
	return r
}

func (r *fdRinger) set(after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(after))}
	// It fails for a bad descriptor or time alone, and this one is good.
	_ = unix.TimerfdSettime(r.raw, 0, &spec, nil)
}

func (r *fdRinger) close() {
	r.mu.Lock()
	r.closed = true
	_ = r.file.Close() // nothing is left to write
	r.mu.Unlock()
	r.reader.Wait()
}

package clock

import (
	"sync"
	"time"
)

// Alarm is a timer for one goroutine that emulates something. Go's own timers may
// be a millisecond late on an idle machine, because the runtime waits for the network and its timers
// together, in whole milliseconds; that is half of what some emulated costs take. Where the
// system has something better, an alarm is late by some hundredths of a millisecond.
type Alarm struct {
	// C receives when the alarm is due. It holds one: whoever is late gets it once.
	C    <-chan struct{}
	ring ringer
}

// ringer is the system's timer. Set replaces what was set before.
type ringer interface {
	set(after time.Duration)
	close()
}

// NewAlarm returns an alarm that is not set.
func NewAlarm() *Alarm { return newAlarm(newRinger) }

func newAlarm(of func(due func()) ringer) *Alarm {
	c := make(chan struct{}, 1)
	return &Alarm{C: c, ring: of(func() {
		select {
		case c <- struct{}{}:
		default:
		}
	})}
}

// Set lets the alarm go off at an instant of Now, and no more at the one set
// before; one that has gone off already stays in C.
func (a *Alarm) Set(at time.Duration) { a.ring.set(max(at-Now(), 1)) }

// Close ends the alarm. Nothing arrives in C after it, and Set does nothing any more. It
// may be called more than once.
func (a *Alarm) Close() { a.ring.close() }

// timerRinger is a ringer of Go's own timers.
type timerRinger struct {
	t      *time.Timer
	mu     sync.Mutex // a timer that is stopped may be calling its function already
	closed bool
}

func newTimerRinger(due func()) ringer {
	r := &timerRinger{}
	r.t = time.AfterFunc(time.Hour, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.closed {
			due()
		}
	})
	r.t.Stop()
	return r
}

func (r *timerRinger) set(after time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.t.Reset(after)
	}
}

func (r *timerRinger) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.t.Stop()
}

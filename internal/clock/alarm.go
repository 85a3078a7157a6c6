package clock

import "time"

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
func NewAlarm() *Alarm {
	c := make(chan struct{}, 1)
	return &Alarm{C: c, ring: newRinger(func() {
		select {
		case c <- struct{}{}:
		default:
		}
	})}
}

// Set lets the alarm go off at an instant of Now, and no more at the one set
// before; one that has gone off already stays in C.
func (a *Alarm) Set(at time.Duration) { a.ring.set(max(at-Now(), 1)) }

// Close ends the alarm. Nothing arrives in C after it.
func (a *Alarm) Close() { a.ring.close() }

// timerRinger is a ringer of Go's own timers.
type timerRinger struct{ t *time.Timer }

func newTimerRinger(due func()) ringer {
	t := time.AfterFunc(time.Hour, due)
	t.Stop()
	return timerRinger{t}
}

func (r timerRinger) set(after time.Duration) { r.t.Reset(after) }
func (r timerRinger) close()                  { r.t.Stop() }

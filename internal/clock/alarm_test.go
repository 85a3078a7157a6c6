package clock

import (
	"sync"
	"testing"
	"time"
)

// onEveryRinger runs a test with what the system offers and with Go's own timers, which
// are all that other systems have.
func onEveryRinger(t *testing.T, test func(t *testing.T, fresh func() *Alarm)) {
	t.Helper()
	for name, of := range map[string]func(func()) ringer{"system": newRinger, "go": newTimerRinger} {
		t.Run(name, func(t *testing.T) {
			test(t, func() *Alarm {
				a := newAlarm(of)
				t.Cleanup(a.Close)
				return a
			})
		})
	}
}

// await waits for an alarm to go off.
func await(t *testing.T, a *Alarm) {
	t.Helper()
	select {
	case <-a.C:
	case <-time.After(10 * time.Second):
		t.Fatal("the alarm does not go off")
	}
}

// pass lets time go by as alarms see it, far more than the shortest that tests set.
func pass(t *testing.T, fresh func() *Alarm) {
	t.Helper()
	a := fresh()
	a.Set(Now() + 50*time.Millisecond)
	await(t, a)
}

const soon = 5 * time.Millisecond

func TestAlarmIsNeverEarly(t *testing.T) {
	onEveryRinger(t, func(t *testing.T, fresh func() *Alarm) {
		a := fresh()
		for _, after := range []time.Duration{soon, 1, 0, -time.Hour, soon} {
			at := Now() + after
			a.Set(at)
			await(t, a)
			if now := Now(); now < at {
				t.Errorf("set in %v, it went off %v early", after, at-now)
			}
		}
	})
}

func TestAlarmSetReplaces(t *testing.T) {
	onEveryRinger(t, func(t *testing.T, fresh func() *Alarm) {
		earlier, later := fresh(), fresh()
		earlier.Set(Now() + time.Hour)
		earlier.Set(Now() + soon)
		await(t, earlier)
		later.Set(Now() + soon)
		later.Set(Now() + time.Hour)
		pass(t, fresh)
		if len(later.C) > 0 {
			t.Error("it went off at an instant that was replaced")
		}
	})
}

func TestAlarmHoldsOne(t *testing.T) {
	onEveryRinger(t, func(t *testing.T, fresh func() *Alarm) {
		a := fresh()
		for range 3 {
			a.Set(Now())
			pass(t, fresh)
		}
		await(t, a)
		if len(a.C) > 0 {
			t.Error("it went off once more for those who were late")
		}
	})
}

func TestAlarmNotSet(t *testing.T) {
	onEveryRinger(t, func(t *testing.T, fresh func() *Alarm) {
		a := fresh()
		pass(t, fresh)
		if len(a.C) > 0 {
			t.Error("it went off without being set")
		}
	})
}

func TestAlarmClose(t *testing.T) {
	onEveryRinger(t, func(t *testing.T, fresh func() *Alarm) {
		a := fresh()
		a.Set(Now() + soon)
		a.Close()
		a.Close()
		a.Set(Now())
		pass(t, fresh)
		if len(a.C) > 0 {
			t.Error("it went off after it was closed")
		}
	})
}

// Whoever sets an alarm need not know of its end.
func TestAlarmCloseWhileSet(t *testing.T) {
	onEveryRinger(t, func(t *testing.T, fresh func() *Alarm) {
		for range 20 {
			a := fresh()
			var setters sync.WaitGroup
			for range 2 {
				setters.Go(func() {
					for range 50 {
						a.Set(Now())
					}
				})
			}
			a.Close()
			before := len(a.C)
			setters.Wait()
			if len(a.C) > before {
				t.Fatal("it went off after it was closed")
			}
		}
	})
}

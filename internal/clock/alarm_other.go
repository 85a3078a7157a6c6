//go:build !linux

package clock

func newRinger(due func()) ringer { return newTimerRinger(due) }

package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// settings are those under which the guard must work: protection, or the policy paced with all of it.
var settings = []string{"off", "on", "paced"}

// watched is a level of 60 s with a guard, at ten users a machine.
func watched(t testing.TB, machines, bricks int, setting string, specs ...string) *Config {
	t.Helper()
	cfg := faulty(t, strings.Replace(setting, "paced", "on", 1), specs...)
	cfg.Plan.Machines, cfg.Plan.Bricks, cfg.Plan.Duration = []int{machines}, bricks, 60*time.Second
	if setting == "paced" {
		cfg.Plan.Policies = []string{"paced"}
	}
	cfg.Watch = true
	return cfg
}

// size is how much there is of load and of store.
type size struct{ machines, bricks int }

// sizes are those that every run looks at, and more in a soak.
func sizes(always []size, more ...size) []size {
	if soak {
		return append(always, more...)
	}
	return always
}

// told lists the events of one kind, each as "SECOND WHO".
func told(l *result.Level, kind string) (all []string) {
	for _, e := range l.Events {
		if e.Kind == kind {
			all = append(all, fmt.Sprintf("%.0f %s", e.Second, e.Who))
		}
	}
	return all
}

// repairedOnce checks that brick-2 was found at fault within a time, restarted, and nobody
// else or again. It returns when.
func repairedOnce(t *testing.T, l *result.Level, from, within time.Duration) (second float64) {
	t.Helper()
	for _, e := range l.Events {
		switch e.Kind {
		case "repair":
			second = e.Second
		case "gave-up":
			t.Errorf("gave up at %.1f", e.Second)
		}
	}
	want := []string{fmt.Sprintf("%.0f brick-2", second)}
	if alarms, repairs := told(l, "alarm"), told(l, "repair"); !slices.Equal(alarms, want) || !slices.Equal(repairs, want) {
		t.Errorf("alarms %q, repairs %q, want one of brick-2", alarms, repairs)
	}
	if len(told(l, "alarm-over")) != 1 {
		t.Error("the alarm is not over")
	}
	if after := second - from.Seconds(); after <= 0 || after > within.Seconds() {
		t.Errorf("repaired at %.1f, %.1f s after the fault began, want %v at most", second, after, within)
	}
	if l.Row.Wrong+l.Row.Lost > 0 {
		t.Errorf("wrong %d, lost %d", l.Row.Wrong, l.Row.Lost)
	}
	return second
}

// backTo checks that goodput from a second on, in means of three, is what it was before another.
func backTo(t *testing.T, l *result.Level, before, from int) {
	t.Helper()
	mean := func(a, b int) (sum float64) {
		for i := range l.Seconds {
			if s := &l.Seconds[i]; s.Second >= a && s.Second < b {
				sum += float64(s.Count[session.OK])
			}
		}
		return sum / float64(b-a)
	}
	was := mean(0, before)
	for s := from; s+3 <= len(l.Seconds)-5; s++ { // of them, 5 are the warm-up
		if is := mean(s, s+3); is < 0.95*was {
			t.Errorf("goodput %.0f/s from second %d on, %.0f/s before the fault", is, s, was)
			return
		}
	}
}

// The published fault: one brick takes a millisecond more for every message. It is found within ten
// seconds and restarted, which ends it, and goodput is what it was.
func TestGuardSlowBrick(t *testing.T) {
	for _, setting := range settings {
		for _, tt := range sizes([]size{{3, 6}, {2, 3}}, size{1, 6}, size{2, 8}, size{8, 8}, size{9, 24}) {
			cfg := watched(t, tt.machines, tt.bricks, setting, "slow:brick-2,by=1ms@10s")
			cfg.Plan.Duration = 35 * time.Second
			l := simulateOne(t, cfg)
			at := repairedOnce(t, &l, 10*time.Second, 10*time.Second)
			backTo(t, &l, 10, int(at)+3)
			if over := told(&l, "fault-over"); !slices.Equal(over, told(&l, "repair")) {
				t.Errorf("the fault is over at %q", over)
			}
			if t.Failed() {
				t.Fatalf("%d machines, %d bricks, %s: %v", tt.machines, tt.bricks, setting, l.Events)
			}
		}
	}
}

// Also under overload, where every brick is at its limits, or nobody is served at all.
func TestGuardSlowBrickOverload(t *testing.T) {
	for _, setting := range settings {
		for _, tt := range sizes([]size{{14, 6}}, size{14, 3}, size{24, 8}, size{37, 6}) {
			cfg := watched(t, tt.machines, tt.bricks, setting, "slow:brick-2,by=1ms@5s")
			cfg.Plan.Duration = 30 * time.Second
			l := simulateOne(t, cfg)
			if repairedOnce(t, &l, 5*time.Second, 10*time.Second); t.Failed() {
				t.Fatalf("%d machines, %d bricks, %s: %v", tt.machines, tt.bricks, setting, l.Events)
			}
		}
	}
}

// A brick that dies at any instant is found within three seconds.
func TestGuardDeadBrick(t *testing.T) {
	for _, setting := range settings {
		for _, at := range []time.Duration{10 * time.Second, 10*time.Second + ms, 10999 * ms} {
			cfg := watched(t, 3, 6, setting, fmt.Sprintf("kill:brick-2@%v", at))
			cfg.Plan.Duration = 20 * time.Second
			l := simulateOne(t, cfg)
			second := repairedOnce(t, &l, at, 3*time.Second)
			if backTo(t, &l, 10, int(second)+2); t.Failed() {
				t.Fatalf("%s, dead at %v: %v", setting, at, l.Events)
			}
		}
	}
}

// One that stands still does not answer, and is found as one that is dead.
func TestGuardStalledBrick(t *testing.T) {
	l := simulateOne(t, watched(t, 3, 6, "on", "stall:brick-2@10s+40s"))
	second := repairedOnce(t, &l, 10*time.Second, 3*time.Second)
	backTo(t, &l, 10, int(second)+2)
}

// The published experiment: the fault is brought back every minute, and repaired each time.
func TestGuardEveryMinute(t *testing.T) {
	cfg := watched(t, 3, 6, "on", "slow:brick-2,by=1ms@10s", "slow:brick-2,by=1ms@70s", "slow:brick-5,by=1ms@130s")
	cfg.Plan.Duration = 150 * time.Second
	l := simulateOne(t, cfg)
	repairs := told(&l, "repair")
	if len(repairs) != 3 || len(told(&l, "alarm")) != 3 || len(told(&l, "gave-up")) > 0 || l.Row.Lost+l.Row.Wrong > 0 {
		t.Errorf("repairs %q, lost %d, wrong %d: %v", repairs, l.Row.Lost, l.Row.Wrong, l.Events)
	}
	for i := range l.Seconds {
		if s := &l.Seconds[i]; failed(s) > 30 {
			t.Errorf("second %d: %v, want at most one failure a user", s.Second, s.Count)
		}
	}
}

// A brick that comes back empty, by itself and between two looks, is no reason for an alarm, of it
// or of another, while it fills.
func TestGuardAfterRestart(t *testing.T) {
	for _, setting := range settings {
		for _, tt := range sizes([]size{{1, 3}, {5, 6}}, size{8, 8}, size{12, 8}, size{24, 6}) {
			cfg := watched(t, tt.machines, tt.bricks, setting, "kill:brick-2@5100ms+700ms")
			cfg.Plan.Duration = 30 * time.Second
			if soak {
				cfg.Plan.Duration = 3 * time.Minute
			}
			l := simulateOne(t, cfg)
			if alarms := told(&l, "alarm"); len(alarms) > 0 {
				t.Errorf("%d machines, %d bricks, %s: alarms %q", tt.machines, tt.bricks, setting, alarms)
			}
		}
	}
}

// What a restart does not cure is restarted three times, and then no more.
func TestGuardGivesUp(t *testing.T) {
	for _, spec := range []string{"loss:brick-2,share=0.3@10s", "partition:brick-2@10s"} {
		l := simulateOne(t, watched(t, 3, 6, "on", spec))
		if repairs, gaveUp := told(&l, "repair"), told(&l, "gave-up"); len(repairs) != 3 || len(gaveUp) != 1 {
			t.Errorf("%s: repairs %q, given up %q", spec, repairs, gaveUp)
		}
	}
}

// A surge strikes all bricks alike.
func TestGuardSurge(t *testing.T) {
	for _, setting := range settings {
		cfg := watched(t, 6, 8, setting, "surge:load,machines=34@5s+5s")
		cfg.Plan.Duration = 20 * time.Second
		l := simulateOne(t, cfg)
		if alarms := told(&l, "alarm"); len(alarms) > 0 {
			t.Errorf("%s: alarms %q", setting, alarms)
		}
	}
}

// A guard that finds nothing changes nothing.
func TestGuardIsQuiet(t *testing.T) {
	cfg := watched(t, 8, 8, "on")
	cfg.Plan.Duration = 10 * time.Second
	with := simulateOne(t, cfg)
	cfg.Watch = false
	without := simulateOne(t, cfg)
	if diff := cmp.Diff(without.Seconds, with.Seconds); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(without.Row, with.Row); diff != "" {
		t.Error(diff)
	}
}

// No alarm without a fault, whatever the load. A soak looks at half an hour of each level.
func TestGuardFalseAlarms(t *testing.T) {
	for i, machines := range []int{2, 6, 8, 14, 24, 37} {
		for j, bricks := range []int{3, 6, 8} {
			for k, setting := range settings {
				if !soak && (i+j+k)%3+i/4 > 0 { // of the first four loads a third, all settings and numbers of bricks among them
					continue
				}
				t.Run(fmt.Sprintf("%d/%d/%s", machines, bricks, setting), func(t *testing.T) {
					t.Parallel()
					cfg := watched(t, machines, bricks, setting)
					cfg.Plan.Threads, cfg.Plan.Duration = 12, cleanFor
					l := simulateOne(t, cfg)
					if alarms := told(&l, "alarm"); len(alarms) > 0 {
						t.Errorf("alarms %v", l.Events)
					}
				})
			}
		}
	}
}

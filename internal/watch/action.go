package watch

import (
	"fmt"
	"strings"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Kind tells actions apart.
type Kind string

// The actions. Repair asks for something; the others tell of something.
const (
	Alarm  Kind = "alarm"      // the brick is at fault
	Repair Kind = "repair"     // restart it now
	GaveUp Kind = "gave-up"    // restarts do not help: it will not be restarted until it has been well
	Over   Kind = "alarm-over" // it is well again
)

// Cause is why a brick is at fault.
type Cause string

// The causes.
const (
	Gone     Cause = "gone"     // its process does not run
	Silent   Cause = "silent"   // it does not answer
	Deviates Cause = "deviates" // it is not like the others
)

// Action is what a look has led to.
type Action struct {
	Kind       Kind
	Brick      session.BrickID
	Cause      Cause       // of the alarm
	Deviations []Deviation // of a brick that deviates, as last seen
}

// What says in words what the brick is at fault of.
func (a *Action) What() string {
	switch a.Cause {
	case Gone:
		return "its process is gone"
	case Silent:
		return fmt.Sprintf("no answer in %d looks", silentFor)
	}
	parts := make([]string, len(a.Deviations))
	for i := range a.Deviations {
		parts[i] = a.Deviations[i].String()
	}
	return strings.Join(parts, "; ")
}

// String says how far the value is from the others'.
func (d *Deviation) String() string {
	unit := ""
	if d.Statistic.activity() {
		unit = "/s"
	}
	return fmt.Sprintf("%s %.0f%s, median %.0f%s (%+.1f spreads)", d.Statistic, d.Value, unit, d.Median, unit, d.Spreads)
}

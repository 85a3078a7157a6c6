package loadgen

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/result"
)

// Generation is what a level says of the load side itself: whether the figures can
// be those of the system under test, or are those of the machine that makes the load.
type Generation struct {
	Users    int           // of a closed loop, there all the time; 0 in an open one
	Guests   time.Duration // of a closed loop: the time that users of a surge were there, summed up
	Measured time.Duration
	Busy     time.Duration // sum of their latencies
	Rest     time.Duration // sum of the users' own times after them
	Timeout  time.Duration
	LagP99   time.Duration // of the users' turns, of the worst agent
	LagHost  string        // where that agent is; this and the other hosts are empty where all are on this machine
	CPU      float64       // cores used by the agents of the busiest host
	Cores    int           // of that host
	CPUHost  string        // its name
	HostBusy float64       // share of the busiest host's processor time in use, by whatever; 0 is not known
	BusyHost string        // its name
	BrickLag time.Duration // p99 of the emulated bricks' replies, of the worst brick
}

// The bounds of the generator check. They are shares of what they would disturb, so
// that they hold for any profile.
const (
	// maxLagShare of the time-out: a turn or a reply that is late by more could turn
	// an answer in time into a time-out.
	maxLagShare = 0.1
	// maxCPUShare of a host's cores for its agents: beyond it, turns wait for a core.
	maxCPUShare = 0.85
	// maxHostBusy is where a host has no processor time left: whatever runs on it waits
	// for the rest, and a faster load side would have shown another figure.
	maxHostBusy = 0.97
	// maxLawGap between users and throughput x cycle: in a closed loop each user is
	// always either waiting or resting, so what is missing was spent in the load side.
	maxLawGap = 0.05
)

// Judge says whether a level's row can be believed.
func (g *Generation) Judge() result.Verdict {
	var why []string
	fail := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	bound := time.Duration(maxLagShare * float64(g.Timeout))
	if g.LagP99 > bound {
		fail("1 turn in 100 came %v late%s, over %v", g.LagP99.Round(10*time.Microsecond), on(g.LagHost), bound)
	}
	if g.BrickLag > bound {
		fail("1 emulated reply in 100 left %v late, over %v", g.BrickLag.Round(10*time.Microsecond), bound)
	}
	if g.CPU > maxCPUShare*float64(g.Cores) {
		fail("the agents of %s used %.2f of its %d cores", cmp.Or(g.CPUHost, "a host"), g.CPU, g.Cores)
	}
	if g.HostBusy > maxHostBusy {
		fail("%s was %.0f %% busy: whatever ran there waited for the rest", cmp.Or(g.BusyHost, "a host of the load"), 100*g.HostBusy)
	}
	if gap := g.LawGap(); gap > maxLawGap || gap < -maxLawGap {
		fail("users = throughput x cycle is off by %+.1f %%", 100*gap)
	}
	return result.Verdict{OK: len(why) == 0, Why: strings.Join(why, "; ")}
}

// on names a host, where there is more than one.
func on(host string) string {
	if host == "" {
		return ""
	}
	return " on " + host
}

// LawGap is by what share the users exceed throughput x cycle; 0 in an open loop. Users
// that were there for a part of the time count for that part.
func (g *Generation) LawGap() float64 {
	present := (g.Busy + g.Rest).Seconds()
	if g.Users == 0 || g.Measured <= 0 {
		return 0
	}
	return 1 - present/(float64(g.Users)*g.Measured.Seconds()+g.Guests.Seconds())
}

// Expect sets the users that are to account for the measured time, which must be known;
// an open loop has none.
func (g *Generation) Expect(plan *result.Plan, machines int, guests []Guests, join time.Duration) {
	if plan.Rate > 0 {
		return
	}
	g.Users = machines * plan.Threads
	for i := range guests {
		g.Guests += guests[i].Present(plan.Threads, join, plan.Warmup, plan.Warmup+g.Measured)
	}
}

package coordinator_test

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// outcomes adds up the measured seconds of a series.
func outcomes(seconds []result.Second) (sum [session.NumOutcomes]uint64) {
	for _, s := range seconds {
		for o, n := range s.Count {
			if s.Second >= 0 {
				sum[o] += n
			}
		}
	}
	return sum
}

// consistent checks that a level's row, series, histograms and hosts say the same, and
// that nothing went wrong.
func consistent(t *testing.T, l *result.Level, machines int) {
	t.Helper()
	for n, s := range l.Seconds {
		if s.Second != n-1 || s.Machines != machines {
			t.Errorf("second %d of %d machines where %d of %d was due", s.Second, s.Machines, n-1, machines)
		}
	}
	var hosts []result.Second
	for _, seconds := range l.PerHost {
		hosts = append(hosts, seconds...)
	}
	counts, row, offered := outcomes(l.Seconds), &l.Row, 0.0
	if diff := cmp.Diff(counts, outcomes(hosts)); diff != "" {
		t.Errorf("counts (-all +hosts):\n%s", diff)
	}
	for i, count := range counts {
		o := session.Outcome(i)
		rate := float64(count) / row.Duration.Seconds()
		offered += rate
		if math.Abs(row.Rates[o]-rate) > 1e-6 {
			t.Errorf("%s: %f/s in the row, %f/s in the series", o, row.Rates[o], rate)
		}
		if n := l.Histograms.Count(session.Write, o) + l.Histograms.Count(session.Read, o); n != count {
			t.Errorf("%s: %d in the histograms, %d in the series", o, n, count)
		}
	}
	if math.Abs(row.Offered-offered) > 1e-6 || row.Goodput() <= 0 {
		t.Errorf("offered %f/s, sum %f/s, goodput %f/s", row.Offered, offered, row.Goodput())
	}
	checkRow(t, row, machines)
}

// checkRow checks what a row says beside its rates.
func checkRow(t *testing.T, row *result.Row, machines int) {
	t.Helper()
	if row.Run != "test" || row.Mode != result.Live || row.Profile != quick.Name || row.Policy != protect.DefaultPolicy {
		t.Errorf("row of another run: %+v", row)
	}
	if row.Machines != machines || row.Threads != 3 || row.Users != 3*machines || row.Fairness <= 0 || row.Fairness > 1 {
		t.Errorf("row of other users: %+v", row)
	}
	if row.CopiesPerWrite != 3 || row.AckedPerWrite < 2 || row.AckedPerWrite > 3 || row.Wrong+row.Lost != 0 {
		t.Errorf("row of %f copies, %f acknowledged, %d wrong, %d lost", row.CopiesPerWrite, row.AckedPerWrite, row.Wrong, row.Lost)
	}
}

// Two levels, the first of them too small for both agents, and the bricks as they were.
func TestRun(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 4, protect.DiscardOnly)
	p := plan(1, 4)
	p.Protection = []string{"on"}
	r := prepareTwo(t, p, bricks)
	r.must(2)
	for i, machines := range p.Machines {
		l := &r.levels[i]
		consistent(t, l, machines)
		if l.Row.Duration != p.Duration || len(l.Seconds) != 3 || l.Seconds[2].Level != i || l.Row.Protection != "on" {
			t.Errorf("row: %+v", l.Row)
		}
	}
	for _, s := range r.seconds {
		if s.Protection != "on" || (s.Count[session.OK] > 0) != (s.P50 > 0) || s.P99 < s.P50 {
			t.Errorf("second: %+v", s)
		}
	}
	if n := len(r.levels[1].PerHost); n != 2 {
		t.Errorf("%d hosts", n)
	}
	if diff := cmp.Diff(slices.Concat(r.levels[0].Seconds, r.levels[1].Seconds), r.seconds); diff != "" {
		t.Errorf("seconds (-series +progress):\n%s", diff)
	}
	wantSettings(t, bricks, slices.Repeat([]protect.Setting{protect.DiscardOnly}, len(bricks))...)
}

// Agents share the machines of a level out and agree on everything else. The rows of a
// level differ in their protection alone, and no two of a run use the same keys.
func TestOrders(t *testing.T) {
	t.Parallel()
	p := plan(3, 5)
	p.Protection, p.Rate = []string{"off", "on"}, 30
	bricks := embedded(t, 3, protect.On)
	second := message.Report{Interval: []loadgen.Interval{{Protection: "on"}}}
	var heard [2]chan message.Level
	var agents []func(context.Context, io.Reader, io.Writer) error
	for i := range heard {
		heard[i] = make(chan message.Level, 4)
		agents = append(agents, script{reachable: 3, reports: []message.Report{second}, levels: heard[i]}.play)
	}
	prepare(t, p, bricks, agents...).must(4)
	nonces, seeds := make(map[uint64]bool), make(map[uint64]bool)
	for _, shares := range [][2]int{{2, 1}, {2, 1}, {3, 2}, {3, 2}} {
		a, b := <-heard[0], <-heard[1]
		if a.First != 0 || a.Machines != shares[0] || b.First != shares[0] || b.Machines != shares[1] {
			t.Errorf("%d machines from %d, %d from %d, want %v", a.Machines, a.First, b.Machines, b.First, shares)
		}
		b.First, b.Machines = a.First, a.Machines
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("orders (-a +b):\n%s", diff)
		}
		if want := p.Rate / float64(shares[0]+shares[1]); a.Rate != want || a.Seconds != 2 || len(a.Bricks) != len(bricks) {
			t.Errorf("order %+v, want a rate of %f", a, want)
		}
		nonces[a.Nonce], seeds[a.Seed] = true, true
	}
	if len(nonces) != 4 || len(seeds) != 2 {
		t.Errorf("nonces %v, seeds %v", nonces, seeds)
	}
}

// A run without a setting of its own takes what it finds, and leaves it.
func TestProtectionAsFound(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3, protect.WindowOnly)
	p := plan(2)
	p.Duration, p.Warmup = time.Second, 0
	r := prepareTwo(t, p, bricks)
	r.must(1)
	if got := r.levels[0].Row.Protection; got != "window" {
		t.Errorf("protection %s", got)
	}
	wantSettings(t, bricks, protect.WindowOnly, protect.WindowOnly, protect.WindowOnly)
}

// A resumed run measures what the first has left.
func TestSkip(t *testing.T) {
	t.Parallel()
	p := plan(1, 2)
	p.Duration, p.Warmup = time.Second, 0
	p.Protection = []string{"off", "on"}
	r := prepareTwo(t, p, embedded(t, 3, protect.On))
	r.cfg.Skip = 3
	r.must(1)
	if row := r.levels[0].Row; row.Machines != 2 || row.Protection != "on" || r.levels[0].Seconds[0].Level != 3 {
		t.Errorf("row: %+v", row)
	}
}

// Somebody switches protection off while a level is measured: the load follows, and
// the level says so.
func TestSwitchWithinLevel(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3, protect.On)
	p := plan(2)
	p.Duration = 3 * time.Second
	r := prepareTwo(t, p, bricks)
	r.each = func(s result.Second) {
		if s.Second == 0 {
			setAll(t, bricks, protect.Off)
		}
	}
	r.must(1)
	l := &r.levels[0]
	if row := &l.Row; row.Protection != result.Mixed || row.Steady.OK || !strings.Contains(row.Steady.Why, "protection changed") {
		t.Errorf("row: %+v", row)
	}
	if n := len(l.Seconds); n != 4 || l.Seconds[1].Protection != "on" || l.Seconds[n-1].Protection != "off" {
		t.Errorf("series: %+v", l.Seconds)
	}
	wantSettings(t, bricks, protect.Off, protect.Off, protect.Off)
}

// Bricks that are not there are noted, as long as there are enough for a write.
func TestAbsentBricks(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 4, protect.Off)
	there := bricks[:3]
	vanish(t, &bricks[3])
	p := plan(2)
	p.Duration, p.Warmup, p.Protection = time.Second, 0, []string{"on"}
	r := prepareTwo(t, p, bricks)
	r.must(1)
	row := &r.levels[0].Row
	if row.Goodput() <= 0 || row.CopiesPerWrite != 3 || row.Protection != "on" {
		t.Errorf("row: %+v", row)
	}
	for _, want := range []string{"absent from the start: brick-4 at " + bricks[3].Addr, "no answer after the load: brick-4"} {
		if !slices.ContainsFunc(row.Notes, func(n string) bool { return strings.HasPrefix(n, want) }) {
			t.Errorf("notes %q, want %q", row.Notes, want)
		}
	}
	wantSettings(t, there, protect.Off, protect.Off, protect.Off)
}

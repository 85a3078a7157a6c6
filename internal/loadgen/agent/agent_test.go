package agent_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// seconds checks that the intervals of these reports follow each other from first on
// and are consistent in themselves, and returns them.
func seconds(t *testing.T, reports []message.Report, first int) []loadgen.Interval {
	t.Helper()
	var all []loadgen.Interval
	for _, r := range reports {
		all = append(all, r.Interval...)
	}
	for n, i := range all {
		if i.Second != first+n {
			t.Errorf("second %d where %d was due", i.Second, first+n)
		}
		h := result.NewHistograms()
		for _, e := range i.Latency {
			if err := h.MergeEncoded(e); err != nil {
				t.Fatal(err)
			}
		}
		for o, count := range i.Count {
			recorded := h.Count(session.Write, session.Outcome(o)) + h.Count(session.Read, session.Outcome(o))
			if recorded != count {
				t.Errorf("second %d: %d latencies of %d attempts that ended %s", i.Second, recorded, count, session.Outcome(o))
			}
		}
	}
	return all
}

// healthy checks that all attempts were answered but those for which the windows, which
// start small, had no room.
func healthy(t *testing.T, i loadgen.Interval) {
	t.Helper()
	ok, rejected := i.Count[session.OK], i.Count[session.Rejected]
	want := [session.NumOutcomes]uint64{session.OK: ok, session.Rejected: rejected}
	if i.Count != want || i.Lost+i.Late != 0 || i.Protection != "on" {
		t.Errorf("second %d: %+v", i.Second, i)
	}
	if ok > 0 && (i.Busy <= 0 || i.Rest <= 0) {
		t.Errorf("second %d: busy %v, rest %v", i.Second, i.Busy, i.Rest)
	}
}

// allFound checks that what the users wrote was read back.
func allFound(t *testing.T, done *message.Done) {
	t.Helper()
	if a := done.Audit; a.Writes == 0 || !a.Clean() {
		t.Errorf("audit: %+v", a)
	}
}

// quiet checks that the bricks are asked nothing.
func quiet(t *testing.T, bricks []remote.Brick) {
	t.Helper()
	served := func() (n uint64) {
		for _, b := range bricks {
			h, err := plain.Status(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			n += h.Stats.Writes + h.Stats.Reads
		}
		return n
	}
	before := served()
	time.Sleep(50 * time.Millisecond) // in which every user would ask several times
	if after := served(); after != before {
		t.Errorf("%d operations while all should be quiet", after-before)
	}
}

// checkDone checks the end of a quick level against what its measured seconds add up to.
func checkDone(t *testing.T, done *message.Done, ok uint64) {
	t.Helper()
	if n := done.PerMachine; len(n) != 2 || n[0]+n[1] != ok {
		t.Errorf("machines %v, %d in all seconds", n, ok)
	}
	if done.Writes == 0 || done.Sent != 3*done.Begun || done.Acked > 3*done.Writes || done.Acked < 2*done.Writes {
		t.Errorf("%d writes begun, %d copies sent; %d acknowledged, %d copies of those", done.Begun, done.Sent, done.Writes, done.Acked)
	}
	allFound(t, done)
	if done.Cores == 0 || done.LagP99 > done.LagWorst {
		t.Errorf("of the load side: %+v", done)
	}
}

// Two levels, one after the other, each from the order to Done.
func TestLevels(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 4)
	d := drive(t)
	for _, spec := range []message.Level{quick(bricks, 0, 1), quick(bricks, time.Second, 2)} {
		if n := d.ready(spec); n != len(bricks) {
			t.Errorf("ready with %d bricks", n)
		}
		d.begin()
		reports := d.until("Ended", isEnded)
		first := -int(spec.Warmup / time.Second)
		intervals := seconds(t, reports, first)
		if len(intervals) < spec.Seconds-first {
			t.Fatalf("%d seconds from %d on, want %d", len(intervals), first, spec.Seconds)
		}
		var measured uint64
		for _, i := range intervals[:spec.Seconds-first] {
			healthy(t, i)
			if i.Second >= 0 {
				measured += i.Count[session.OK]
			}
		}
		quiet(t, bricks)
		checkDone(t, d.finish(), measured)
		alone(t, bricks)
	}
}

// A level that is stopped ends in the same way as one that is over, wherever it is.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*driver){
		"before the start": func(*driver) {},
		"just started":     func(d *driver) { d.begin() },
		"in the middle":    func(d *driver) { d.begin(); d.heard = d.until("an interval", isInterval) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bricks := embedded(t, 3)
			d := drive(t)
			d.ready(endless(bricks))
			run(d)
			d.order(message.Order{Stop: true})
			intervals := seconds(t, append(d.heard, d.until("Ended", isEnded)...), -1)
			if len(d.heard) > 0 {
				healthy(t, intervals[0])
			}
			quiet(t, bricks)
			d.order(message.Order{Stop: true}) // one that crosses the end is nothing
			if done := d.finish(); len(d.heard) > 0 {
				allFound(t, done)
			}
			d.order(message.Order{Stop: true})
			d.ready(quick(bricks, 0, 1))
		})
	}
}

// An agent that loses its coordinator ends at once, whatever it is at.
func TestInputEnds(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(*driver, message.Level){
		"before a level":   func(*driver, message.Level) {},
		"before the start": func(d *driver, l message.Level) { d.ready(l) },
		"while it waits": func(d *driver, l message.Level) {
			d.ready(l)
			delay := time.Hour
			d.order(message.Order{Start: &delay})
		},
		"in the middle": func(d *driver, l message.Level) {
			d.ready(l)
			d.begin()
			d.until("an interval", isInterval)
		},
		"after the end": func(d *driver, l message.Level) {
			d.ready(l)
			d.begin()
			d.order(message.Order{Stop: true})
			d.until("Ended", isEnded)
		},
		"while it looks for bricks": func(d *driver, l message.Level) {
			l.Bricks = append(l.Bricks[:3:3], l.Bricks[0])
			l.Bricks[3].ID = 99 // is not the one that answers there
			d.order(message.Order{Level: &l})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bricks := embedded(t, 3)
			d := drive(t)
			run(d, endless(bricks))
			_ = d.in.Close() // of a pipe, it never fails
			if err := d.wait(); err != nil {
				t.Errorf("Run: %v", err)
			}
			alone(t, bricks)
		})
	}
}

func TestInputBreaks(t *testing.T) {
	t.Parallel()
	d := drive(t)
	d.ready(endless(embedded(t, 3)))
	d.begin()
	if _, err := d.in.Write([]byte{9, 0, 0, 0, '{'}); err != nil {
		t.Fatal(err)
	}
	_ = d.in.Close() // of a pipe, it never fails
	if err := d.wait(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Run: %v", err)
	}
}

// An agent that nobody listens to ends, even if somebody still holds its input.
func TestOutputCloses(t *testing.T) {
	t.Parallel()
	d := drive(t)
	d.ready(endless(embedded(t, 3)))
	d.begin()
	_ = d.out.Close() // of a pipe, it never fails
	if err := d.wait(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run: %v", err)
	}
}

// What an agent cannot do it says, and ends.
func TestFailed(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3)
	unknown := quick(bricks, 0, 1)
	unknown.Policy = "hope"
	known := endless(bricks)
	for name, test := range map[string]struct {
		orders []message.Order
		says   string
	}{
		"an unknown policy":  {[]message.Order{{Level: &unknown}}, `"hope" is not a policy`},
		"keys that are none": {[]message.Order{{Keys: &secure.Keys{CA: []byte("text")}}}, "keys of a cluster"},
		"an order too soon":  {[]message.Order{{Level: &known}, {Audit: true}}, "does not belong"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := drive(t)
			for _, o := range test.orders {
				d.order(o)
			}
			rs := d.until("Failed", func(r *message.Report) bool { return r.Failed != "" })
			if got := rs[len(rs)-1].Failed; !strings.Contains(got, test.says) {
				t.Errorf("it says %q, want %q", got, test.says)
			}
			if err := d.wait(); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

// An agent whose coordinator falls silent within a level gives up, and its users with it; one
// that keeps hearing of it goes on.
func TestSilence(t *testing.T) {
	t.Parallel()
	spec := endless(embedded(t, 3))
	spec.Silence = 2 * time.Second
	for _, heard := range []bool{true, false} {
		d := drive(t)
		d.ready(spec)
		d.begin()
		if heard {
			for range 4 {
				d.until("an interval", isInterval)
				d.order(message.Order{Here: true})
			}
			continue
		}
		d.until("the end", func(r *message.Report) bool { return strings.Contains(r.Failed, "nothing for 2s") })
		if err := d.wait(); err == nil {
			t.Error("the agent ended as if it had been told to")
		}
	}
}

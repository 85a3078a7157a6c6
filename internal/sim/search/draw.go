package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// drawStream is the stream of a case's seed that it is drawn from; its run uses others.
const drawStream = 7

// drawing is a case while it is drawn.
type drawing struct {
	rng *rand.Rand
	Case
}

// Draw returns the case of a seed. About half are light enough for the promise of progress.
func Draw(seed uint64) Case {
	d := &drawing{rng: rand.New(rand.NewPCG(seed, drawStream)), Case: Case{Seed: seed}}
	d.system()
	d.load()
	d.protection()
	d.network()
	d.trouble()
	return d.Case
}

// chance is true in so many of a hundred draws.
func (d *drawing) chance(percent int) bool { return d.rng.IntN(100) < percent }

// between draws from lo to hi, both included.
func (d *drawing) between(lo, hi int) int { return lo + d.rng.IntN(hi-lo+1) }

// spread draws a time between two, each magnitude as likely as the others.
func (d *drawing) spread(lo, hi time.Duration) Span {
	return Span(float64(lo) * math.Pow(float64(hi)/float64(lo), d.rng.Float64())).round()
}

// round drops digits that no reader needs.
func (s Span) round() Span { return Span(time.Duration(s).Round(10 * time.Microsecond)) }

func (d *drawing) system() {
	d.Bricks = d.between(1, 8)
	d.W = d.between(1, min(d.Bricks, 5))
	d.WQ = d.between(1, d.W)
	d.R = d.between(1, d.WQ)
	d.Size = 1 << d.between(4, 15)
	d.Put = d.spread(300*time.Microsecond, 4*time.Millisecond)
	d.Get = d.Put
	if d.chance(50) {
		d.Get = d.spread(300*time.Microsecond, 4*time.Millisecond)
	}
	d.CostJitter = float64(d.between(0, 5)) / 10
	d.Discard = float64(d.between(0, 10)) / 10
	d.Timeout = d.spread(20*time.Millisecond, 200*time.Millisecond)
	d.Expiry = Span(d.between(1, 10)) * Span(time.Second)
	if d.chance(15) {
		d.Memory = int64(d.Size+80) << d.between(11, 14)
	}
	if d.chance(20) {
		d.Inbox = int64(d.Size+128) * int64(d.between(1, 60))
	}
}

func (d *drawing) load() {
	d.Machines = d.between(1, 2)
	d.Threads = d.between(1, 4)
	if d.chance(20) {
		d.Machines, d.Threads = d.between(1, 12), d.between(1, 8)
	}
	d.Own = d.spread(10*time.Millisecond, 60*time.Millisecond)
	if d.chance(15) { // users who think, so that a brick may die and be back between a write and its read
		d.Own = d.spread(200*time.Millisecond, 1500*time.Millisecond)
	}
	d.Pause = d.spread(time.Millisecond, 30*time.Millisecond)
	d.Turn = d.spread(10*time.Millisecond, 30*time.Millisecond)
	d.Warmup = Span(d.between(0, 1)) * Span(time.Second)
	if d.chance(10) {
		d.Rate = float64(d.between(5, 400))
	}
}

func (d *drawing) protection() {
	settings, policies := protect.Settings(), protect.Policies()
	setting := func() string { return settings[d.rng.IntN(len(settings))].String() }
	d.Protection = setting()
	d.Policy = policies[d.rng.IntN(len(policies))].Name
	if d.chance(30) {
		d.Changes = []Change{{At: Span(d.between(0, 1200)) * Span(time.Millisecond), Protection: setting()}}
	}
}

func (d *drawing) network() {
	d.OneWay = d.spread(50*time.Microsecond, 3*time.Millisecond)
	if d.chance(50) {
		d.NetworkJitter = float64(d.between(1, 10)) / 10
	}
	if d.chance(20) {
		d.Loss = float64(d.between(1, 10)) / 100
	}
	if d.chance(10) {
		d.LinkRate = float64(d.Size) * float64(d.between(200, 2000))
	}
}

// trouble draws the faults, and a time that leaves the quiet that progress needs after them.
func (d *drawing) trouble() {
	const within = 1500 // ms: when faults begin and end
	for range d.between(0, 5) {
		at := d.between(0, within-50)
		d.Faults = append(d.Faults, d.fault(at, d.between(10, within-at)).String())
	}
	for range d.between(0, 2) {
		at := d.between(0, within-50)
		d.Faults = append(d.Faults, d.memoryFault(at, d.between(10, within-at)).String())
	}
	d.Duration = Span(3 * time.Second)
	if light, quiet := d.promise(); light {
		end := d.troubled() + quiet
		d.Duration = Span((end + time.Second - 1).Truncate(time.Second))
	}
}

// memoryKinds are drawn beside the others, so that these stay as frequent as they are.
var memoryKinds = []chaos.Kind{chaos.Flip, chaos.FlipCrash, chaos.Fill}

// memoryFault draws a fault of what a brick holds, of so many milliseconds.
func (d *drawing) memoryFault(at, length int) chaos.Fault {
	f := chaos.Fault{
		Kind: memoryKinds[d.rng.IntN(len(memoryKinds))], Brick: session.BrickID(d.between(1, d.Bricks)),
		At: time.Duration(at) * time.Millisecond, For: time.Duration(length) * time.Millisecond,
	}
	switch f.Kind {
	case chaos.Flip:
		f.For, f.Bits = 0, 1<<d.between(0, 10)
	case chaos.Fill:
		f.Share = float64(d.between(1, 10)) / 10
	}
	return f
}

// fault draws another fault of so many milliseconds.
func (d *drawing) fault(at, length int) chaos.Fault {
	kinds := slices.DeleteFunc(chaos.Kinds(), func(k chaos.Kind) bool { return slices.Contains(memoryKinds, k) })
	f := chaos.Fault{
		Kind: kinds[d.rng.IntN(len(kinds))], Brick: session.BrickID(d.between(1, d.Bricks)),
		At: time.Duration(at) * time.Millisecond, For: time.Duration(length) * time.Millisecond,
	}
	switch f.Kind {
	case chaos.Slow:
		f.By = time.Duration(d.spread(time.Millisecond, 50*time.Millisecond))
	case chaos.Delay:
		f.By = time.Duration(d.spread(time.Millisecond, 100*time.Millisecond))
		f.Jitter = (f.By * time.Duration(d.between(0, 10)) / 10).Round(10 * time.Microsecond)
	case chaos.Drop, chaos.Loss:
		f.Share = float64(d.between(1, 10)) / 10
	case chaos.Surge:
		f.Brick, f.Machines = 0, d.between(1, 6)
	}
	return f
}

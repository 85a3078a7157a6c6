package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// begun returns a level that is about to begin.
func begun(t testing.TB, cfg *Config) *level {
	t.Helper()
	l, err := newLevel(nil, cfg, loadgen.Points(&cfg.Plan)[0])
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// reach returns how many bricks each machine believes to be there, at a time since the
// end of the warm-up.
func reach(l *level, at time.Duration) (n []int) {
	l.engine.run(epoch + l.cfg.Plan.Warmup + at)
	for i := range l.engine.machines {
		n = append(n, l.engine.machines[i].core.Reachable())
	}
	return n
}

// Machines learn of a death one network latency later, and of the return at the brick's first
// announcement, within a second. In between it holds nothing, and then it has the protection of the level.
func TestKillIsTold(t *testing.T) {
	l := begun(t, faulty(t, "discard", "kill:brick-2@4s+2s"))
	n := &l.engine.bricks[1]
	all, but := []int{6, 6, 6}, []int{5, 5, 5}
	var held session.BrickStats
	for _, tt := range []struct {
		at   time.Duration
		want []int
		dead bool
	}{
		{4*time.Second - 1, all, false},
		{4*time.Second + 299*time.Microsecond, all, true},
		{4*time.Second + 300*time.Microsecond, but, true},
		{6*time.Second - 1, but, true},
		{6 * time.Second, but, false},
		{7*time.Second + 300*time.Microsecond, all, false},
	} {
		got := reach(l, tt.at)
		if !slices.Equal(got, tt.want) || n.dead() != tt.dead {
			t.Errorf("at %v: %v bricks are reachable, dead %v; want %v, %v", tt.at, got, n.dead(), tt.want, tt.dead)
		}
		n.queue.Stats(&held)
		n.store.Stats(&held)
		if tt.dead && held.Sessions+held.InboxLen > 0 {
			t.Errorf("at %v the dead brick holds %d states and %d operations", tt.at, held.Sessions, held.InboxLen)
		}
	}
	if n.queue.Setting().String() != "discard" {
		t.Errorf("protection %s after the return, want that of the level", n.queue.Setting())
	}
	served := held.Writes
	reach(l, 9*time.Second)
	n.queue.Stats(&held)
	n.store.Stats(&held)
	if held.Writes == served || held.Sessions == 0 {
		t.Errorf("%d writes served since the return, %d states held", held.Writes-served, held.Sessions)
	}
}

// Through a partition nobody is told of a death, nor of the return.
func TestKillInPartition(t *testing.T) {
	l := begun(t, faulty(t, "on", "partition:brick-2@3s+4s", "kill:brick-2@4s+1s"))
	for _, tt := range []struct {
		at   time.Duration
		want int
	}{
		{7*time.Second - 1, 6},
		{7*time.Second + 300*time.Microsecond, 5}, // the connections were broken long ago
		{8*time.Second + 300*time.Microsecond, 6},
	} {
		for _, got := range reach(l, tt.at) {
			if got != tt.want {
				t.Errorf("at %v: %d bricks are reachable, want %d", tt.at, got, tt.want)
			}
		}
	}
}

// crossing fails a test when a machine and a brick that has died since they last met hear of each
// other, and counts what they hear at other times.
type crossing struct {
	t      *testing.T
	brick  session.BrickID
	parted map[int]bool
	dead   bool
	heard  int
}

func (*crossing) Start(World) {}

func (c *crossing) See(s *Sight) {
	if s.Brick != c.brick {
		return
	}
	switch s.What {
	case Killed:
		c.dead, c.parted = true, map[int]bool{0: true, 1: true, 2: true}
	case Revived:
		c.dead = false
	case Met:
		if c.dead {
			c.t.Errorf("at %v: machine %d meets the dead %s", s.Now-epoch, s.Machine, s.Brick)
		}
		c.parted[s.Machine] = false
	case Arrived, Delivered:
		c.heard++
		if c.parted[s.Machine] {
			c.t.Errorf("at %v: sight %d between machine %d and the dead %s", s.Now-epoch, s.What, s.Machine, s.Brick)
		}
	}
}

// What is on its way to or from a brick when it dies arrives nowhere, though another process
// is in its place before it would have arrived; nor does what is sent before a machine has learned of it.
func TestKillTakesWhatIsOnItsWay(t *testing.T) {
	for _, specs := range [][]string{
		{"kill:brick-2@4s+10ms"},
		{"kill:brick-2@4s+10ms", "kill:brick-2@4020ms+10ms", "kill:brick-2@5500ms+1s"},
		{"kill:brick-2@4s+1s", "partition:brick-2@3900ms+3s"},
		{"kill:brick-2@4s+1s", "delay:brick-2,by=950ms@4500ms+3s", "kill:brick-2@6s+1s"},
	} {
		cfg := faulty(t, "off", specs...)
		cfg.Network = &Network{OneWay: 20 * ms, Jitter: 0.5}
		w := &crossing{t: t, brick: 2, parted: make(map[int]bool)}
		cfg.Witness, cfg.Plan.Timeout = w, 300*ms
		simulateOne(t, cfg)
		if w.heard < 1000 {
			t.Errorf("%v: only %d messages arrived", specs, w.heard)
		}
	}
}

// What the brick that died was at is forgotten, the protection that was set meanwhile is not.
func TestKillForgets(t *testing.T) {
	cfg := faulty(t, "on", "slow:brick-2,by=1h@2s+1s", "kill:brick-2@4s+1s")
	cfg.Changes = []Change{{At: 4500 * ms, Protection: protect.Off}}
	l := begun(t, cfg)
	var before, after session.BrickStats
	reach(l, 5*time.Second)
	n := &l.engine.bricks[1]
	n.queue.Stats(&before)
	reach(l, 8*time.Second)
	n.queue.Stats(&after)
	if after.Writes-before.Writes < 100 || n.queue.Setting() != protect.Off {
		t.Errorf("%d writes served since the return, protection %s", after.Writes-before.Writes, n.queue.Setting())
	}
}

// The end of a connection is told whatever is lost of other messages; a sign of life is not.
func TestKillInLoss(t *testing.T) {
	l := begun(t, faulty(t, "on", "loss:brick-2,share=1@3s+5s", "kill:brick-2@4s+1s"))
	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{4*time.Second + 300*time.Microsecond, 5}, {8 * time.Second, 5}, {9*time.Second + ms, 6}} {
		for _, got := range reach(l, tt.at) {
			if got != tt.want {
				t.Errorf("at %v: %d bricks are reachable, want %d", tt.at, got, tt.want)
			}
		}
	}
}

// A stalled brick does not announce itself.
func TestKillInStall(t *testing.T) {
	l := begun(t, faulty(t, "on", "stall:brick-2@4s+4s", "kill:brick-2@5s+1s"))
	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{8*time.Second - 1, 5}, {9*time.Second + ms, 6}} {
		for _, got := range reach(l, tt.at) {
			if got != tt.want {
				t.Errorf("at %v: %d bricks are reachable, want %d", tt.at, got, tt.want)
			}
		}
	}
}

// drawFaults draws any faults of two bricks in two seconds.
func drawFaults(t *rapid.T) []chaos.Fault {
	duration := func(name string, low, high int) time.Duration {
		return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
	}
	one := rapid.Custom(func(t *rapid.T) chaos.Fault {
		f := chaos.Fault{
			Kind:  rapid.SampledFrom(chaos.Kinds()).Filter(func(k chaos.Kind) bool { return k != chaos.Surge }).Draw(t, "kind"),
			Brick: session.BrickID(rapid.IntRange(1, 2).Draw(t, "brick")),
			At:    duration("at", 0, 1900), For: duration("for", 1, 1500),
		}
		switch f.Kind {
		case chaos.Slow, chaos.Delay:
			f.By = duration("by", 1, 10)
			if f.Kind == chaos.Delay {
				f.Jitter = duration("jitter", 0, int(f.By/time.Millisecond))
			}
		case chaos.Drop, chaos.Loss:
			f.Share = rapid.Float64Range(0.01, 1).Draw(t, "share")
		case chaos.Fill:
			f.Bytes = rapid.Int64Range(1<<20, 2<<30).Draw(t, "bytes")
		case chaos.Flip:
			f.Bits, f.For = rapid.IntRange(1, 2000).Draw(t, "bits"), 0
		}
		return f
	})
	return rapid.SliceOfNDistinct(one, 1, 8, rapid.ID).Draw(t, "faults")
}

// However faults overlap, a brick is at any instant what those that are active make of it; when
// all are over it is healthy, every machine knows that it is there, and no message has leaked.
func TestFaultsOverlap(t *testing.T) {
	cfg := faulty(t, "on")
	cfg.Plan.Bricks, cfg.Plan.W, cfg.Plan.Duration, cfg.Plan.Warmup = 3, 2, 2*time.Second, 0
	rapid.Check(t, func(rt *rapid.T) {
		cfg.Faults = drawFaults(rt)
		l := begun(t, cfg)
		at := time.Duration(0)
		for range 8 {
			at += time.Duration(rapid.IntRange(1, 300).Draw(rt, "later")) * time.Millisecond
			l.engine.run(epoch + min(at, cfg.Plan.Duration-1))
			for i := range uint32(2) {
				checkNode(rt, cfg, i, &l.engine.bricks[i], l.engine.now-epoch)
			}
		}
		l = begun(t, cfg)
		if err := l.run(); err != nil {
			rt.Fatal(err)
		}
		checkHealthy(rt, l)
	})
}

// checkHealthy checks a level that is over and read back.
func checkHealthy(rt *rapid.T, l *level) {
	for i := range l.engine.bricks {
		n := &l.engine.bricks[i]
		if n.dead() || n.way.cut || n.way.loss != 0 || len(n.way.delays) > 0 || n.queue.Defect() != (brick.Defect{}) || n.store.Filled() != 0 {
			rt.Errorf("brick-%d after the level: %+v, %+v", i+1, n, n.queue.Defect())
		}
	}
	for i := range l.engine.machines {
		if n := l.engine.machines[i].core.Reachable(); n != 3 {
			rt.Errorf("machine %d reaches %d bricks after the level", i, n)
		}
	}
	if all, free := len(l.engine.messages.pages)<<pageBits, len(l.engine.messages.free); free != all {
		rt.Errorf("%d messages of %d are still in use", all-free, all)
	}
	if a := &l.audit; a.Stale+a.Unknown+a.Unread > 0 || a.Lost != a.Allowed {
		rt.Errorf("audit %+v", l.audit)
	}
}

// wanted is what the faults active at a time make of a brick, worked out without the engine.
type wanted struct {
	slow, stalled time.Duration
	drop, loss    float64
	cut, dead     bool
	delays        int
	filled        int64
}

func wantedOf(cfg *Config, id session.BrickID, at time.Duration) (w wanted) {
	active := func(k chaos.Kind) (all []chaos.Fault) {
		for _, f := range cfg.Faults {
			if f.Kind == k && f.Brick == id && at >= f.At && at < f.Ends(cfg.Plan.Duration) {
				all = append(all, f)
			}
		}
		return all
	}
	for _, f := range active(chaos.Slow) {
		w.slow += f.By
	}
	for _, f := range active(chaos.Stall) {
		w.stalled = max(w.stalled, epoch+f.Ends(cfg.Plan.Duration))
	}
	escapes := func(all []chaos.Fault) float64 {
		share := 1.0
		for _, f := range all {
			share *= 1 - f.Share
		}
		return share
	}
	w.drop, w.loss = 1-escapes(active(chaos.Drop)), 1-escapes(active(chaos.Loss))
	w.cut, w.dead = len(active(chaos.Partition)) > 0, len(active(chaos.Kill))+len(active(chaos.FlipCrash)) > 0
	for _, f := range active(chaos.Fill) {
		w.filled += f.Bytes * (16 + 80) / (8192 + 80) // the simulator's states have 16 bytes
	}
	w.delays = len(active(chaos.Delay))
	return w
}

// checkNode compares a brick with what the faults active at that time say of it.
func checkNode(t *rapid.T, cfg *Config, i uint32, n *node, at time.Duration) {
	d := n.queue.Defect()
	got := wanted{d.Slow, d.StallUntil, d.Drop, n.way.loss, n.way.cut, n.dead(), len(n.way.delays), n.store.Filled()}
	want := wantedOf(cfg, session.BrickID(i+1), at)
	if math.Abs(got.drop-want.drop) < 1e-9 && math.Abs(got.loss-want.loss) < 1e-9 {
		got.drop, got.loss = want.drop, want.loss // but for rounding
	}
	if got != want {
		t.Fatalf("brick-%d at %v: %+v, want %+v", i+1, at, got, want)
	}
}

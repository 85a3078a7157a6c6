package loadgen

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// Twelve users that are always either waiting or resting, for a minute.
func TestMachineInVirtualTime(t *testing.T) {
	w := newWorld(12, protect.On, func(cfg *MachineConfig) { cfg.Join = 100 * ms })
	w.run(time.Minute)
	all := w.sum(t)
	if all.Count[session.Timeout]+all.Count[session.Error]+all.Count[session.Wrong]+all.Count[session.Refused] > 0 {
		t.Errorf("outcomes %v", all.Count)
	}
	// A cycle is 2 ms of waiting and 27 ms of the user's own.
	if rate := float64(all.Count[session.OK]) / 60; rate < 0.97*12/0.029 || rate > 1.03*12/0.029 {
		t.Errorf("%v attempts per second, want about %v", rate, 12/0.029)
	}
	g := Generation{Users: 12, Measured: time.Minute, Busy: all.Busy, Rest: all.Rest, Timeout: 60 * ms, LagP99: w.rec.LagAt(0.99), Cores: 1}
	if v := g.Judge(); !v.OK || math.Abs(g.LawGap()) > 0.01 {
		t.Errorf("the generator is %+v, gap %v", v, g.LawGap())
	}
	copies := w.m.Copies()
	if copies.Sent != 3*copies.Begun || copies.Acked != 3*copies.Writes || copies.Late != 0 {
		t.Errorf("copies %+v", copies)
	}
	if n := w.rec.PerMachine()[0]; n < all.Count[session.OK] {
		t.Errorf("%d attempts of the only machine, %d of all", n, all.Count[session.OK])
	}
	keys := make(map[session.Key]bool)
	for _, s := range w.sent {
		keys[s.Key] = true
	}
	if len(keys) != 12 {
		t.Errorf("12 users have %d keys", len(keys))
	}
}

// The same seed gives the same run, another seed or machine another.
func TestSameSeedSameRun(t *testing.T) {
	play := func(change func(*MachineConfig)) []sending {
		w := newWorld(5, protect.On, change)
		w.run(3 * second)
		return w.sent
	}
	same := func(a, b sending) bool { return a.at == b.at && a.to == b.to && a.Sum == b.Sum && a.ID == b.ID }
	want := play(nil)
	if !slices.EqualFunc(want, play(nil), same) {
		t.Error("the same seed gives another run")
	}
	for name, change := range map[string]func(*MachineConfig){
		"seed":    func(cfg *MachineConfig) { cfg.Seed++ },
		"machine": func(cfg *MachineConfig) { cfg.ID++ },
		"nonce":   func(cfg *MachineConfig) { cfg.Nonce++ },
	} {
		if slices.EqualFunc(want, play(change), same) {
			t.Errorf("another %s gives the same run", name)
		}
	}
}

// Users begin one by one within the join time, and their turns are counted as late only
// where the caller was.
func TestMachineJoin(t *testing.T) {
	w := newWorld(200, protect.Off, func(cfg *MachineConfig) { cfg.Join = second })
	var tenths [10]int
	for _, d := range w.m.turns {
		tenths[d.at*10/second]++
	}
	for i, n := range tenths {
		if n < 5 || n > 40 {
			t.Errorf("%d of 200 users begin in tenth %d", n, i)
		}
	}
	w.run(second)
	if lag := w.rec.LagAt(1); lag >= time.Microsecond {
		t.Errorf("turns came %v late, though nobody was", lag)
	}
	w.now += 30 * ms
	w.m.Step(w.now)
	if lag := w.rec.LagAt(1); lag < 25*ms || lag > 31*ms {
		t.Errorf("turns came %v late after a stall of 30ms", lag)
	}
}

// Without times of their own, users whose attempts end at once still let time pass.
func TestMachineWithoutPausesGoesOn(t *testing.T) {
	w := newWorld(3, protect.On, func(cfg *MachineConfig) { cfg.Users = profile.Users{} })
	for _, id := range w.m.cfg.Stub.Bricks {
		w.m.Down(0, id)
	}
	if next := w.m.Step(0); next != 1 {
		t.Errorf("the next turn is at %v", next)
	}
	w.run(time.Microsecond)
	if n := w.rec.open.Count[session.Error]; n != 3*1001 {
		t.Errorf("%d attempts in 1,001 instants of 3 users", n)
	}
}

func TestMachineRepliesTooLate(t *testing.T) {
	w := newWorld(4, protect.Off, nil)
	w.delay = 100 * ms
	w.run(10 * second)
	all := w.sum(t)
	if all.Count[session.OK] > 0 || all.offered() != all.Count[session.Timeout] || all.offered() == 0 {
		t.Errorf("outcomes %v", all.Count)
	}
	if all.Late < 3*all.offered()-36 || all.Late > 3*all.offered() {
		t.Errorf("%d late replies to %d writes of 3 copies", all.Late, all.offered())
	}
	// 60 ms of waiting, 27 of the user's own, 20 of pause.
	if rate := float64(all.offered()) / 10; math.Abs(rate-4/0.107) > 2 {
		t.Errorf("%v attempts per second, want about %v", rate, 4/0.107)
	}
}

func TestMachineBricksGoAndComeBack(t *testing.T) {
	w := newWorld(4, protect.On, nil)
	w.run(second)
	w.sum(t)
	for _, id := range []session.BrickID{1, 2} {
		w.m.Down(w.now, id)
	}
	if n := w.m.Reachable(); n != 2 {
		t.Errorf("%d bricks are up", n)
	}
	w.run(2 * second)
	if down := w.sum(t); down.Count[session.Error] == 0 || down.Count[session.OK] > 10 {
		t.Errorf("with two bricks of four: outcomes %v", down.Count)
	}
	w.m.Up(w.now, 1, protect.On)
	w.m.Up(w.now, 2, protect.On)
	w.run(3 * second)
	if up := w.sum(t); up.Count[session.OK] < 50 {
		t.Errorf("with all bricks again: outcomes %v", up.Count)
	}
}

func TestMachineNotesTheSetting(t *testing.T) {
	w := newWorld(1, protect.On, nil)
	tests := []struct {
		brick session.BrickID
		s     protect.Setting
		want  string
	}{
		{1, protect.On, "on"},
		{1, protect.Off, result.Mixed},
		{2, protect.Off, result.Mixed},
		{3, protect.Off, result.Mixed},
		{4, protect.Off, "off"},
	}
	for i, tt := range tests {
		w.m.Heard(w.now, tt.brick, tt.s)
		w.run(time.Duration(i+1) * second)
		if got := w.sum(t).Protection; got != tt.want {
			t.Errorf("brick %d announces %v: %s, want %s", tt.brick, tt.s, got, tt.want)
		}
	}
	w.m.Down(w.now, 1)
	w.m.Heard(w.now, 1, protect.On)
	w.run(6 * second)
	if got := w.sum(t).Protection; got != "off" {
		t.Errorf("a brick that is down makes it %s", got)
	}
}

func TestMachineStops(t *testing.T) {
	w := newWorld(12, protect.Off, nil)
	w.run(second)
	w.m.Stop()
	sent := len(w.sent)
	w.run(2 * second)
	if len(w.sent) != sent || !w.m.Idle() || w.m.Next() != 0 {
		t.Errorf("after the end: %d requests, idle %v, next %v", len(w.sent)-sent, w.m.Idle(), w.m.Next())
	}
}

func TestBodyAndStamp(t *testing.T) {
	for _, size := range []int{MinSize, 17, 23, 24, 8 << 10} {
		value := body(size, 1)
		if len(value) != size {
			t.Fatalf("a value of %d bytes, want %d", len(value), size)
		}
		before := slices.Clone(value)
		u := user{key: 1, version: 2}
		u.stamp(value)
		if slices.Equal(before[:stampBytes], value[:stampBytes]) || !slices.Equal(before[stampBytes:], value[stampBytes:]) {
			t.Errorf("%d bytes: the stamp is not at the head alone", size)
		}
	}
}

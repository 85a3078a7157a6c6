package watch

import (
	"slices"
	"testing"
	"time"
)

// Scripts of looks and what is to follow from them, without chance.
func TestLook(t *testing.T) {
	slow := but(2, func(a *act) { a.reads = 30 })
	for _, tt := range []struct {
		name   string
		bricks int
		play   func(s *stage)
		want   []string
	}{
		{"nothing is wrong", 6, func(s *stage) { s.play(60, healthy) }, nil},
		{"nothing happens at all", 6, func(s *stage) { s.play(60, func(int) act { return act{} }) }, nil},
		{"one activity alone", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(9, slow)
			s.play(15, healthy)
		}, []string{"16 alarm 2 deviates", "16 repair 2 deviates", "26 alarm-over 2 deviates"}},
		{"several statistics are found sooner", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(9, but(2, func(a *act) { a.reads, a.writes = 0, 0 }))
		}, []string{"14 alarm 2 deviates", "14 repair 2 deviates"}},
		{"drops", 3, func(s *stage) {
			s.play(10, healthy)
			s.play(9, but(2, func(a *act) { a.drops = 100 }))
		}, []string{"16 alarm 2 deviates", "16 repair 2 deviates"}},
		{"bad seconds that are over", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(2, but(2, func(a *act) { a.reads, a.writes = 0, 0 }))
			s.play(20, but(2, func(a *act) { a.reads, a.writes = 78, 235 }))
		}, nil},
		{"bad seconds that are made up for", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(3, but(2, func(a *act) { a.reads, a.writes = 0, 0 }))
			s.play(5, but(2, func(a *act) { a.reads, a.writes = 130, 380 }))
			s.play(20, healthy)
		}, nil},
		{"sizes alone", 6, func(s *stage) { s.play(60, but(2, func(a *act) { a.sessions, a.inbox = 9000, 500 })) }, nil},
		{"more than the others", 6, func(s *stage) { s.play(60, but(2, func(a *act) { a.reads, a.writes = 800, 900 })) }, nil},
		{"less to drag along than the others", 6, func(s *stage) {
			s.play(60, func(i int) act {
				a := healthy(i)
				if i != 2 {
					a.drops, a.inbox = 200, 500
				}
				return a
			})
		}, nil},
		{"of two, neither is the odd one", 2, func(s *stage) { s.play(60, slow) }, nil},
		{"gone", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(2, but(2, func(a *act) { a.gone = true }))
			s.play(30, healthy)
		}, []string{"12 alarm 2 gone", "12 repair 2 gone", "13 alarm-over 2 gone"}},
		{"gone for one look, as in a restart", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(1, but(2, func(a *act) { a.gone = true }))
			s.play(30, healthy)
		}, nil},
		{"gone of two", 2, func(s *stage) { s.play(2, but(2, func(a *act) { a.gone = true })) }, []string{"2 alarm 2 gone", "2 repair 2 gone"}},
		{"silent", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(2, but(2, func(a *act) { a.silent = true }))
			s.play(10, healthy)
			s.play(3, but(2, func(a *act) { a.silent = true }))
		}, []string{"25 alarm 2 silent", "25 repair 2 silent"}},
		{"most are silent: it may be our own fault", 3, func(s *stage) {
			s.play(10, healthy)
			s.play(9, func(i int) act { return act{silent: i > 1} })
		}, []string{"13 alarm 2 silent", "13 alarm 3 silent"}},
		{
			"all are gone", 2, func(s *stage) { s.play(2, func(int) act { return act{gone: true} }) },
			[]string{"2 alarm 1 gone", "2 repair 1 gone", "2 alarm 2 gone", "2 repair 2 gone"},
		},
		{"silent, then known to be gone", 6, func(s *stage) {
			s.obeys, s.w.repairs = false, false
			s.play(4, but(2, func(a *act) { a.silent = true }))
			s.play(4, but(2, func(a *act) { a.gone = true }))
		}, []string{"3 alarm 2 silent", "6 alarm 2 gone"}},
		{"stopped: it is watched no longer", 6, func(s *stage) {
			s.play(10, healthy)
			s.play(60, but(2, func(a *act) { a.absent = true }))
		}, nil},
	} {
		s := newStage(tt.bricks, 0)
		tt.play(s)
		if !slices.Equal(s.said, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, s.said, tt.want)
		}
	}
}

// Without repairs there is one alarm, however long the fault lasts.
func TestAlarmsOnly(t *testing.T) {
	s := newStage(6, 0)
	s.w = New(false)
	s.play(60, but(2, func(a *act) { a.reads = 20 }))
	s.play(20, healthy)
	if want := []string{"10 alarm 2 deviates", "65 alarm-over 2 deviates"}; !slices.Equal(s.said, want) {
		t.Errorf("%q, want %q", s.said, want)
	}
}

// A fault that restarts do not cure has three of them and is given up, until somebody else
// restarts the brick, or it has been well for five minutes.
func TestGaveUp(t *testing.T) {
	slow := but(2, func(a *act) { a.reads = 20 })
	first := []string{"10 alarm 2 deviates", "10 repair 2 deviates", "20 repair 2 deviates", "30 repair 2 deviates", "40 gave-up 2 deviates"}
	for _, tt := range []struct {
		name string
		then func(s *stage)
		more []string
	}{
		{"left alone", func(s *stage) { s.play(900, slow) }, nil},
		{"restarted by somebody", func(s *stage) {
			s.play(10, slow)
			s.stats[1].Uptime = 0
			s.play(10, slow)
		}, []string{"60 repair 2 deviates"}},
		{"well for a while", func(s *stage) {
			s.play(305, healthy)
			s.play(8, slow)
		}, []string{"45 alarm-over 2 deviates", "351 alarm 2 deviates", "351 repair 2 deviates"}},
	} {
		s := newStage(6, 0)
		s.play(40, slow)
		tt.then(s)
		if want := slices.Concat(first, tt.more); !slices.Equal(s.said, want) {
			t.Errorf("%s: %q, want %q", tt.name, s.said, want)
		}
	}
}

// The published experiment brings its fault back every minute, and each time it is repaired.
func TestEveryMinute(t *testing.T) {
	s := newStage(6, 0)
	for range 6 {
		s.play(10, but(2, func(a *act) { a.reads = 20 }))
		s.play(50, healthy)
	}
	if len(s.said) != 18 {
		t.Errorf("%q, want an alarm, a repair and an end for each of 6 faults", s.said)
	}
}

// While another brick is young, or has just been lost, a brick that deviates is spared: it may hold the
// last copy of a state.
func TestApart(t *testing.T) {
	both := func(i int) act {
		a := healthy(i)
		if i < 3 {
			a.reads = 10
		}
		return a
	}
	s := newStage(7, 0)
	s.play(10, both)
	s.play(10, but(2, func(a *act) { a.reads = 10 }))
	want := []string{
		"10 alarm 1 deviates", "10 repair 1 deviates", "10 alarm 2 deviates", // and no repair of 2 yet
		"20 alarm-over 1 deviates", "20 repair 2 deviates",
	}
	if !slices.Equal(s.said, want) {
		t.Errorf("%q, want %q", s.said, want)
	}
	s = newStage(7, 0)
	s.play(10, healthy)
	s.play(2, but(1, func(a *act) { a.gone = true }))
	s.play(8, but(2, func(a *act) { a.reads = 10 }))
	if want := []string{"12 alarm 1 gone", "12 repair 1 gone", "13 alarm-over 1 gone", "18 alarm 2 deviates"}; !slices.Equal(s.said, want) {
		t.Errorf("%q, want %q", s.said, want)
	}
}

// A brick that is back, empty, is asked for little of what is old, and that is no fault.
func TestYoung(t *testing.T) {
	s := newStage(6, 0)
	s.play(20, healthy)
	s.stats[1].Uptime = 0
	for held := range uint64(240) { // states live four minutes here, and are read until their end
		s.play(1, but(2, func(a *act) {
			a.sessions = 2600 * held / 240
			a.reads = float64(80 * held / 240)
		}))
	}
	if len(s.said) > 0 {
		t.Errorf("%q", s.said)
	}
}

// Looks that are further apart find the same, later.
func TestInterval(t *testing.T) {
	s := newStage(6, 0)
	s.every = 10 * time.Second
	s.play(10, healthy)
	s.play(7, but(2, func(a *act) { a.reads = 20 }))
	if want := []string{"16 alarm 2 deviates", "16 repair 2 deviates"}; !slices.Equal(s.said, want) {
		t.Errorf("%q, want %q", s.said, want)
	}
}

// An action says what is wrong, and by how much.
func TestWhat(t *testing.T) {
	s := newStage(6, 0)
	s.play(8, but(2, func(a *act) { a.reads, a.drops = 20, 60 }))
	if want := []string{"reads 20/s, median 80/s (-15.0 spreads); drops 60/s, median 0/s (+7.5 spreads)"}; !slices.Equal(s.what, want) {
		t.Errorf("%q, want %q", s.what, want)
	}
}

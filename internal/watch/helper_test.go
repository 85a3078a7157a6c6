package watch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// act is what one brick does in each second, on the average.
type act struct {
	reads, writes, drops, inbox float64
	sessions                    uint64
	silent, gone, absent        bool
}

// stage plays bricks to a watcher, look by look.
type stage struct {
	w     *Watcher
	every time.Duration
	rng   *rand.Rand // nil is without chance
	now   time.Duration
	stats []session.BrickStats
	said  []string // actions, each as "LOOK KIND BRICK CAUSE"
	what  []string // of the alarms
	looks int
	obeys bool // a repair gives the brick a new life
}

func newStage(bricks int, seed uint64) *stage {
	s := &stage{w: New(true), every: time.Second, now: time.Hour, stats: make([]session.BrickStats, bricks), obeys: true}
	for i := range s.stats {
		s.stats[i].Uptime = time.Hour
	}
	if seed > 0 {
		s.rng = rand.New(rand.NewPCG(seed, seed))
	}
	return s
}

// some is a number of events of which so many are expected.
func (s *stage) some(mean float64) uint64 {
	if s.rng == nil || mean == 0 {
		return uint64(mean)
	}
	return uint64(max(0, math.Round(mean+s.rng.NormFloat64()*math.Sqrt(mean))))
}

// play takes so many looks, with each brick doing what does says of it.
func (s *stage) play(looks int, does func(brick int) act) {
	for range looks {
		s.looks++
		s.now += s.every
		var samples []Sample
		for i := range s.stats {
			a, st := does(i+1), &s.stats[i]
			st.Uptime += s.every
			st.Reads += s.some(a.reads * s.every.Seconds())
			st.Writes += s.some(a.writes * s.every.Seconds())
			st.Discarded += s.some(a.drops * s.every.Seconds())
			st.InboxLen = s.some(a.inbox)
			st.Sessions, st.Bytes = a.sessions, a.sessions*8272
			switch id := session.BrickID(i + 1); {
			case a.absent:
			case a.silent || a.gone:
				samples = append(samples, Sample{Brick: id, Gone: a.gone})
			default:
				samples = append(samples, Sample{Brick: id, Heard: true, Stats: *st})
			}
		}
		for _, a := range s.w.Look(s.now, samples) {
			s.said = append(s.said, fmt.Sprintf("%d %s %d %s", s.looks, a.Kind, a.Brick, a.Cause))
			if a.Kind == Alarm {
				s.what = append(s.what, a.What())
			}
			if a.Kind == Repair && s.obeys {
				s.stats[a.Brick-1] = session.BrickStats{}
			}
		}
	}
}

// healthy is a brick of the published load at 70 % of the peak.
func healthy(int) act { return act{reads: 80, writes: 240, inbox: 1, sessions: 2600} }

// but is healthy save for one brick.
func but(brick int, change func(*act)) func(int) act {
	return func(i int) act {
		a := healthy(i)
		if i == brick {
			change(&a)
		}
		return a
	}
}

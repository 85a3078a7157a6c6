package watch

import (
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Sample is what one look at one brick has shown.
type Sample struct {
	Brick session.BrickID
	Heard bool               // it has answered
	Gone  bool               // it is known that its process does not run
	Stats session.BrickStats // of a brick that was heard
}

// reading is a sample that was heard, and when.
type reading struct {
	at    time.Duration
	stats session.BrickStats
}

// patient is a brick under watch. Counts are of looks in a row, up to the last.
type patient struct {
	id       session.BrickID
	readings []reading     // of its present life, window+1 at most, the newest at the end
	heard    time.Duration // when it was last heard; 0 is never
	missed   int           // without an answer
	gone     int           // without a process
	several  int           // in which several statistics deviated
	alone    int           // in which an activity did, alone or not
	well     int           // in which it could be compared and no activity did
	evidence []Deviation   // of the last look
	chart    chart
}

// take adds a look's sample to what is known.
func (p *patient) take(now time.Duration, s *Sample) {
	if !s.Heard {
		p.missed++
		p.gone++
		if !s.Gone {
			p.gone = 0
		}
		return
	}
	p.missed, p.gone, p.heard = 0, 0, now
	if n := len(p.readings); n > 0 && anew(&p.readings[n-1].stats, &s.Stats) {
		p.forget()
		p.chart.reborn()
	}
	if len(p.readings) > window {
		p.readings = append(p.readings[:0], p.readings[1:]...)
	}
	p.readings = append(p.readings, reading{now, s.Stats})
}

// forget lets go of a life that is over.
func (p *patient) forget() {
	p.readings = p.readings[:0]
	p.missed, p.gone, p.several, p.alone, p.well = 0, 0, 0, 0, 0
	p.evidence = nil
}

// anew reports whether a brick was started anew between two samples.
func anew(was, is *session.BrickStats) bool {
	return is.Uptime < was.Uptime || is.Writes < was.Writes || is.Reads < was.Reads
}

// comparable reports whether a brick has been heard for long enough in its present life,
// and in this look. Its first seconds, in which stubs come back to it, say nothing.
func (p *patient) comparable() bool { return p.missed == 0 && len(p.readings) > window }

// value is a measure of the brick over its last looks.
func (p *patient) value(m *measure, looks int) float64 {
	last := p.readings[len(p.readings)-1-looks:]
	if m.name.activity() {
		return float64(m.of(&last[looks].stats)-m.of(&last[0].stats)) / (last[looks].at - last[0].at).Seconds()
	}
	var sum float64
	for i := range looks {
		sum += float64(m.of(&last[i+1].stats))
	}
	return sum / float64(looks)
}

// over is the time that the window spans.
func (p *patient) over() time.Duration { return p.readings[window].at - p.readings[0].at }

// count counts a look in which the brick was compared.
func (p *patient) count() {
	p.several++
	p.alone++
	p.well++
	if slices.ContainsFunc(p.evidence, func(d Deviation) bool { return d.Statistic.activity() }) {
		p.well = 0
	} else {
		// A size is much the same from one second to the next, so that a row of looks says
		// no more than one look: without an activity it is no sign of a fault.
		p.several, p.alone = 0, 0
	}
	if len(p.evidence) < 2 {
		p.several = 0
	}
}

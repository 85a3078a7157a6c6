package search

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// tally is what a row should count: what ended and what came late in the measured time.
type tally struct {
	ended [session.NumOutcomes]uint64
	late  uint64
}

// measured reports whether it is the time that a row counts.
func (k *checker) measured() bool {
	zero := k.epoch + time.Duration(k.c.Warmup)
	return k.now >= zero && k.now < zero+time.Duration(k.c.Duration)
}

// checkRow compares what a level says of itself with what happened in it.
func (k *checker) checkRow(l *result.Level) {
	var said tally
	for i := range l.Seconds {
		s := &l.Seconds[i]
		if s.Second < 0 {
			continue
		}
		for outcome, n := range s.Count {
			said.ended[outcome] += n
		}
		said.late += s.Late
	}
	k.checkAudit(&l.Row.Audit)
	if said != k.tally {
		k.failf(Books, -1, 0, "the row counts %v attempts by outcome and %d late replies: it was %v and %d", said.ended, said.late, k.tally.ended, k.tally.late)
	}
}

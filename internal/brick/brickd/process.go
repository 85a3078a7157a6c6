package brickd

import (
	"context"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/clock"
	"github.com/ssmctl/ssmctl/internal/session"
)

// batch bounds how many operations the processor takes while it holds the lock
// that the readers need.
const batch = 32

// served is an operation that the processor is done with at due.
type served struct {
	op      brick.Op
	to      *peer
	due     time.Duration
	real    bool // due is an instant of the processor model, so being late is lag
	refused bool // it is answered and not applied
	share   float32
}

// process is the processing loop: it takes operations as the model allows, applies
// them and sends the replies when the model says so.
func (s *Server) process(ctx context.Context) {
	alarm := clock.NewAlarm()
	defer alarm.Close()
	var waiting []served // in the order of their due times, for a single server's never cross
	for ctx.Err() == nil {
		var next time.Duration
		waiting, next = s.take(clock.Now(), waiting)
		waiting = s.apply(clock.Now(), waiting)
		if len(waiting) > 0 {
			next = min(next, waiting[0].due)
		}
		if next <= clock.Now() {
			continue
		}
		if next != brick.Never {
			alarm.Set(next)
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		case <-alarm.C:
		}
	}
}

// rouse makes the processor look at the inbox again.
func (s *Server) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take moves operations from the inbox to waiting, and returns when to come again.
func (s *Server) take(now time.Duration, waiting []served) ([]served, time.Duration) {
	emulated := s.cfg.Profile.Processor.Emulated()
	s.mu.Lock()
	defer s.mu.Unlock()
	share := float32(s.queue.Share()) // as it is before the batch
	for range batch {
		step := s.queue.Next(now)
		switch step.Action {
		case brick.Idle:
			s.asleep = step.At == brick.Never // a busy processor need not hear of arrivals
			return waiting, step.At
		case brick.Discard:
			s.values.give(step.Op.Value)
		case brick.Serve, brick.Refuse:
			waiting = append(waiting, served{
				op: step.Op, to: s.peers[step.Op.From], due: step.At + s.delay, real: emulated,
				refused: step.Action == brick.Refuse, share: share,
			})
		}
	}
	return waiting, now
}

// apply serves what is due and returns the rest.
func (s *Server) apply(now time.Duration, waiting []served) []served {
	if len(waiting) == 0 || waiting[0].due > now {
		return waiting
	}
	s.storeMu.Lock()
	defer s.storeMu.Unlock()
	n := 0
	for ; n < len(waiting) && waiting[n].due <= now; n++ {
		w := &waiting[n]
		reply := session.Reply{ID: w.op.ID, Status: session.Busy}
		if !w.refused {
			reply = s.store.Apply(now, &w.op.Request)
		}
		reply.Share = w.share
		if w.to != nil {
			w.to.reply(&reply)
		}
		if w.op.Op == session.Write {
			s.values.give(w.op.Value)
		}
		if w.real {
			s.lag.record(now - w.due)
		}
	}
	rest := copy(waiting, waiting[n:])
	clear(waiting[rest:])
	return waiting[:rest]
}

// lag is by how much replies leave later than the processor model says: what the
// machine that runs the emulation adds to it.
type lag struct {
	worst time.Duration
	hist  *hdr.Histogram
}

const lagHighest = int64(time.Minute)

func newLag() lag { return lag{hist: hdr.New(int64(time.Microsecond), lagHighest, 2)} }

func (l *lag) record(d time.Duration) {
	l.worst = max(l.worst, d)
	// In range, RecordValue cannot fail.
	_ = l.hist.RecordValue(min(int64(d), lagHighest))
}

func (l *lag) p99() time.Duration { return time.Duration(l.hist.ValueAtQuantile(99)) }

package search

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/sim"
	"github.com/ssmctl/ssmctl/internal/stub"
)

// traceKept and traceShown are how many events are remembered, and how many of those
// that concern a violation are shown.
const (
	traceKept  = 1024
	traceShown = 24
)

// trace remembers the last events.
type trace struct {
	ring  []entry
	count uint64
	all   io.Writer // gets a line for each event; nil is nobody
	epoch time.Duration
}

// entry is a sight with its own copies of what it was lent.
type entry struct {
	sim.Sight
	completion stub.Completion
}

func (t *trace) add(s *sim.Sight) {
	if s.What == sim.Settled {
		return
	}
	e := entry{Sight: *s}
	if s.Completion != nil {
		e.completion = *s.Completion
	}
	if t.all != nil {
		_, _ = fmt.Fprintln(t.all, e.line(t.epoch)) // a test's own buffer
	}
	if len(t.ring) < traceKept {
		t.ring = append(t.ring, e)
	} else {
		t.ring[t.count%traceKept] = e
	}
	t.count++
}

// last returns the last events that concern a violation, in their order.
func (t *trace) last(v *Violation) []string {
	var lines []string
	for back := uint64(1); back <= uint64(len(t.ring)) && len(lines) < traceShown; back++ {
		if e := &t.ring[(t.count-back)%traceKept]; e.concerns(v) {
			lines = append(lines, e.line(t.epoch))
		}
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// concerns reports whether an event has to do with whom a violation is about.
func (e *entry) concerns(v *Violation) bool {
	switch e.What {
	case sim.Began, sim.Ended:
		return v.machine < 0 && v.brick == 0 || e.Machine == v.machine
	case sim.Killed, sim.Revived, sim.Flipped, sim.Protected, sim.FaultBegins, sim.FaultEnds:
		return v.brick == 0 || e.Brick == v.brick || e.Brick == 0
	case sim.UsersStop, sim.InboxesEmpty, sim.Over:
		return true
	default:
		return (v.machine < 0 || e.Machine == v.machine) && (v.brick == 0 || e.Brick == v.brick)
	}
}

// line is the event in words: when, who, what.
func (e *entry) line(epoch time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%12.6fs  ", (e.Now - epoch).Seconds())
	m, brick := fmt.Sprintf("machine %d", e.Machine), e.Brick.String()
	switch e.What {
	case sim.Began:
		fmt.Fprintf(&b, "%s, %s begins a %s", m, userName(e.Attempt.Tag), e.Attempt.Op)
	case sim.Ended:
		d := &e.completion
		fmt.Fprintf(&b, "%s, %s: the %s ends, %s", m, userName(d.Tag), d.Op, d.Outcome)
		if bricks := d.Cookie.Bricks(); len(bricks) > 0 {
			fmt.Fprintf(&b, ", cookie names %v", bricks)
		}
	case sim.Sent:
		fmt.Fprintf(&b, "%s sends %s %s, for %v", m, brick, requestName(e.Request), e.Request.Timeout)
	case sim.Arrived:
		fmt.Fprintf(&b, "%s gets %s of %s", brick, requestName(e.Request), m)
		if e.Dropped {
			b.WriteString(" and drops it, its inbox full")
		}
	case sim.Served:
		fmt.Fprintf(&b, "%s serves %s of %s till %.6fs: %s", brick, requestName(e.Request), m, (e.Done - epoch).Seconds(), e.Reply.Status)
	case sim.Refused:
		fmt.Fprintf(&b, "%s refuses %s of %s", brick, requestName(e.Request), m)
	case sim.Discarded:
		fmt.Fprintf(&b, "%s discards %s of %s", brick, requestName(e.Request), m)
	case sim.Delivered:
		fmt.Fprintf(&b, "%s has the answer of %s to request %d.%d: %s", m, brick, uint32(e.Reply.ID), e.Reply.ID>>32, e.Reply.Status)
	default:
		b.WriteString(e.other(m, brick))
	}
	return b.String()
}

// other is the rest of line.
func (e *entry) other(m, brick string) string {
	switch e.What {
	case sim.Met:
		return m + " meets " + brick
	case sim.Parted:
		return m + " loses " + brick
	case sim.Killed:
		return brick + " dies"
	case sim.Revived:
		return brick + " is back, empty"
	case sim.Flipped:
		f := e.Struck
		return fmt.Sprintf("%s: bit %d of the %s of key %x version %d turns over", brick, f.Bit, f.Part, f.Key, f.Version)
	case sim.Protected:
		return brick + " changes its protection to " + e.Setting.String()
	case sim.FaultBegins:
		return "begins: " + e.Fault.String()
	case sim.FaultEnds:
		return "ends: " + e.Fault.String()
	case sim.UsersStop:
		return "the users stop"
	case sim.InboxesEmpty:
		return "the inboxes are emptied"
	default:
		return "all is over"
	}
}

func userName(tag uint64) string {
	if tag >= auditTag {
		return "audit"
	}
	return fmt.Sprintf("user %d", tag)
}

func requestName(r *session.Request) string {
	return fmt.Sprintf("request %d.%d (%s of key %x version %d)", uint32(r.ID), r.ID>>32, r.Op, r.Key, r.Version)
}

package stub

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// brickList reads "2", "1,3" or "1-4".
func brickList(text string) ([]session.BrickID, error) {
	var ids []session.BrickID
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		from, err := session.ParseBrickID(first)
		if err != nil {
			return nil, err
		}
		to := from
		if ranged {
			if to, err = session.ParseBrickID(last); err != nil {
				return nil, err
			}
		}
		for id := from; id <= to; id++ {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// forge makes a cookie of a state that some other stub wrote.
func (s *script) forge(name, expiry, bricks string) error {
	at, err := time.ParseDuration(expiry)
	if err != nil {
		return err
	}
	c := session.Cookie{Key: 1000, Version: 1, Expiry: session.Expiry(at / time.Second)}
	c.Sum = session.Sum(c.Key, c.Version, c.Expiry, scriptValue)
	ids, err := brickList(bricks)
	for _, id := range ids {
		c.AddBrick(id)
	}
	s.cookies[name] = c
	return err
}

var scriptAnswers = map[string]session.Status{
	"done": session.Done, "wrong": session.Done, "notfound": session.NotFound, "full": session.Full, "corrupt": session.Corrupt,
	"busy": session.Busy,
}

func (s *script) reply(name, brick, answer string) (*Effects, error) {
	id, sent := s.ids[name]
	status, known := scriptAnswers[answer]
	if !sent || !known {
		return nil, fmt.Errorf("%s was not sent, or %s is not an answer", name, answer)
	}
	from, err := session.ParseBrickID(brick)
	if err != nil {
		return nil, err
	}
	r := session.Reply{ID: id, Status: status}
	switch {
	case answer == "wrong":
		r.Value = []byte("the state of somebody else")
	case status == session.Done && s.ops[name] == session.Read:
		r.Value = scriptValue
	}
	return s.core.Reply(s.now, from, &r), nil
}

// cycle writes and acknowledges many times, and shows only how that ended.
func (s *script) cycle(out *bytes.Buffer, times string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	ended := make(map[session.Outcome]int)
	for range n {
		fx := s.core.Begin(s.now, &Attempt{Op: session.Write, Key: 1, Version: 1, Value: scriptValue})
		for _, d := range fx.Done {
			ended[d.Outcome]++
		}
		sends := append([]Send(nil), fx.Sends...)
		for i := range sends {
			for _, d := range s.core.Reply(s.now, sends[i].To, &session.Reply{ID: sends[i].Request.ID}).Done {
				ended[d.Outcome]++
			}
		}
	}
	fmt.Fprintf(out, "  %v in %d slots\n", ended, len(s.core.calls.slots))
	return nil
}

// show writes effects down, sends first.
func (s *script) show(out *bytes.Buffer, fx *Effects) {
	slices.SortFunc(fx.Sends, func(a, b Send) int { return cmp.Compare(a.To, b.To) })
	for i := range fx.Sends {
		r := &fx.Sends[i].Request
		name := s.names[s.core.calls.find(r.ID).tag]
		s.ids[name] = r.ID
		fmt.Fprintf(out, "  %s -> %v: %v, time-out %v", name, fx.Sends[i].To, r.Op, r.Timeout)
		if r.Op == session.Write {
			fmt.Fprintf(out, ", ttl %v, %d bytes", r.TTL, len(r.Value))
		}
		out.WriteByte('\n')
	}
	for i := range fx.Done {
		d := &fx.Done[i]
		name := s.names[d.Tag]
		fmt.Fprintf(out, "  %s is %v", name, d.Outcome)
		if d.Lost {
			out.WriteString(", lost")
		}
		if len(d.Cookie.Bricks()) > 0 {
			s.cookies[name] = d.Cookie
			fmt.Fprintf(out, ", cookie names %v until %ds", d.Cookie.Bricks(), d.Cookie.Expiry)
		}
		out.WriteByte('\n')
	}
}

func (s *script) windows(out *bytes.Buffer) {
	for i := range s.core.bricks {
		b := &s.core.bricks[i]
		state := "down"
		if b.up {
			state = b.setting.String()
		}
		fmt.Fprintf(out, "  %v %s, %d in flight", b.id, state, b.inFlight)
		if b.up && b.setting.Window {
			fmt.Fprintf(out, ", window %.4g", b.window.Size())
		}
		out.WriteByte('\n')
	}
}

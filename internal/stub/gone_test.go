package stub

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// answered lets each brick that a read asks answer in turn with one of the replies, and
// returns how the read ends and how many were asked at first.
func answered(t *testing.T, c *Core, a *Attempt, replies ...session.Reply) (done Completion, atFirst int) {
	t.Helper()
	fx := c.Begin(0, a)
	atFirst = len(fx.Sends)
	sends := append([]Send(nil), fx.Sends...)
	for len(sends) > 0 {
		if len(replies) == 0 {
			t.Fatalf("more bricks are asked than answer: %+v", sends)
		}
		r := replies[0]
		replies, r.ID = replies[1:], sends[0].Request.ID
		fx = c.Reply(time.Millisecond, sends[0].To, &r)
		sends = append(sends[1:], fx.Sends...)
		for _, d := range fx.Done {
			done = d
		}
	}
	if len(replies) > 0 {
		t.Errorf("%d bricks were not asked", len(replies))
	}
	return done, atFirst
}

// What a read that fails says of the state that it asked for.
func TestReadThatFindsNothing(t *testing.T) {
	missing, corrupt, busy := session.Reply{Status: session.NotFound}, session.Reply{Status: session.Corrupt}, session.Reply{Status: session.Busy}
	good, odd := session.Reply{Value: scriptValue}, session.Reply{Value: []byte("a value of some other user")}
	for _, tt := range []struct {
		name          string
		replies       []session.Reply
		outcome       session.Outcome
		lost, corrupt bool
		odd           string
	}{
		{"denied by both", []session.Reply{missing, missing}, session.Refused, true, false, ""},
		{"denied and corrupt", []session.Reply{missing, corrupt}, session.Refused, false, true, ""},
		{"corrupt and denied", []session.Reply{corrupt, missing}, session.Refused, false, true, ""},
		{"corrupt twice", []session.Reply{corrupt, corrupt}, session.Refused, false, true, ""},
		{"corrupt, and the other does not look", []session.Reply{corrupt, busy}, session.Refused, false, false, ""},
		{"denied, and the other does not look", []session.Reply{missing, busy}, session.Refused, false, false, ""},
		{"corrupt, and another copy", []session.Reply{corrupt, good}, session.OK, false, false, ""},
		{"another's value, and denied", []session.Reply{odd, missing}, session.Wrong, false, false, "a value of some "},
	} {
		c := published(protect.Off)
		w := newUser(c)
		w.attempt(&w.write)
		got, _ := answered(t, c, &Attempt{Op: session.Read, Cookie: &w.cookie}, tt.replies...)
		var want [OddBytes]byte
		copy(want[:], tt.odd)
		if got.Outcome != tt.outcome || got.Lost != tt.lost || got.Corrupt != tt.corrupt || got.Odd != want {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

// An urgent read asks one brick after the other, whatever R is.
func TestUrgentAsksOne(t *testing.T) {
	for _, urgent := range []bool{false, true} {
		c := published(protect.Off)
		c.cfg.Quorum.R = 2
		w := newUser(c)
		w.attempt(&w.write)
		missing := session.Reply{Status: session.NotFound}
		done, atFirst := answered(t, c, &Attempt{Op: session.Read, Cookie: &w.cookie, Urgent: urgent}, missing, missing)
		if want := map[bool]int{false: 2, true: 1}[urgent]; atFirst != want || !done.Lost {
			t.Errorf("urgent %v: %d bricks asked at once, ended %+v", urgent, atFirst, done)
		}
	}
}

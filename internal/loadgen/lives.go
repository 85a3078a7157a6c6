package loadgen

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// lives is what a machine knows of the failures of its bricks: which of them may have lost what
// they acknowledged, and when.
type lives map[session.BrickID]*life

// life is one brick's.
type life struct {
	failed time.Duration // last; 0 is never
	before time.Duration // the same without what is in doubt
	doubt  bool          // it could not be reached since it was last heard, and may have died
	heard  time.Duration // when it last said how long it has been up; 0 is never
}

func (l lives) of(id session.BrickID) *life {
	if l[id] == nil {
		l[id] = &life{}
	}
	return l[id]
}

// gone takes in that a brick cannot be reached. It has died, unless it says later that it has not.
func (l lives) gone(now time.Duration, id session.BrickID) {
	b := l.of(id)
	if !b.doubt {
		b.before, b.doubt = b.failed, true
	}
	b.failed = now
}

// damaged takes in that something that a brick held may be damaged or gone.
func (l lives) damaged(now time.Duration, id session.BrickID) {
	b := l.of(id)
	b.failed, b.before = now, now
}

// up takes in for how long a brick has been up. Was it there already when it was last heard, then
// it was out of reach and has not died. A message that is late makes it younger than it is, so
// that a brick in doubt has died.
func (l lives) up(now time.Duration, id session.BrickID, uptime time.Duration) {
	b := l.of(id)
	if b.doubt && b.heard > 0 && now-uptime < b.heard {
		b.failed = b.before
	}
	b.doubt, b.heard = false, now
}

// allows reports whether a write may be lost: each brick that its cookie names has failed since
// it was sent.
func (l lives) allows(k *kept) bool {
	for _, id := range k.cookie.Bricks() {
		if b := l[id]; b == nil || b.failed == 0 || b.failed < k.began {
			return false
		}
	}
	return true
}

package loadgen

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/session"
)

// user is a hyperactive user: it writes a fresh state, reads it back with the
// cookie, and again, without thinking. What the stub rejects has not happened, so the user comes
// back with the same request; after any other failure it goes on with a fresh state.
type user struct {
	key     session.Key
	version session.Version // of the last write begun
	cookie  session.Cookie  // of the last acknowledged write, the state to read back next
	holds   bool            // there is such a state
	began   time.Duration   // when that attempt did, or in an open loop was to
	sent    time.Duration   // when the stub was asked for it
}

// stampBytes is how much of a value tells its state from all others: the key and the
// version. The rest is the same for all states of a machine.
const stampBytes = 16

// MinSize is the smallest state, in bytes: one that can be told from others.
const MinSize = stampBytes

// MaxSize is the largest state, in bytes.
const MaxSize = 64 << 20

// next says what the user does now.
func (u *user) next() session.Op {
	if u.holds {
		return session.Read
	}
	return session.Write
}

// stamp makes value the user's state of the present version.
func (u *user) stamp(value []byte) {
	binary.LittleEndian.PutUint64(value[0:], uint64(u.key))
	binary.LittleEndian.PutUint64(value[8:], uint64(u.version))
}

// learn takes in how an attempt ended.
func (u *user) learn(op session.Op, outcome session.Outcome, cookie *session.Cookie) {
	if outcome == session.Rejected {
		return
	}
	u.holds = op == session.Write && outcome == session.OK
	if u.holds {
		u.cookie = *cookie
	}
}

// pause draws how long a user takes between an attempt that ended so and its next.
func pause(rng *rand.Rand, own *profile.Users, outcome session.Outcome) time.Duration {
	switch outcome {
	case session.Rejected, session.Refused:
		return profile.Spread(rng, own.Turn, own.TurnJitter)
	case session.OK:
		return profile.Spread(rng, own.Own, own.OwnJitter)
	default:
		return profile.Spread(rng, own.Own, own.OwnJitter) + own.Pause
	}
}

// mix spreads a number over 64 bits (the finaliser of splitmix64), so that keys
// and seeds that are neighbours have nothing in common.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

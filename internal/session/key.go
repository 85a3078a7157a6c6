package session

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Key names one session. The zero key is valid.
type Key uint64

// Version counts the states of one session, starting at 1. States are
// immutable: a later version never overwrites an earlier one, it only outlives it.
type Version uint64

// Expiry is the second, on the clock of the stub that wrote a state, at whose
// end the state elapses. Bricks never compare it with a clock: to them it is the
// name of the table in which the state lies (see package brick).
type Expiry uint32

// Passed reports whether the state has elapsed by now, on the same clock.
func (e Expiry) Passed(now time.Duration) bool { return time.Duration(e)*time.Second <= now }

// BrickID numbers the bricks of a cluster from 1. Zero is no brick.
type BrickID uint32

const brickPrefix = "brick-"

// String returns the name that people use, such as "brick-3".
func (id BrickID) String() string { return brickPrefix + strconv.FormatUint(uint64(id), 10) }

// ParseBrickID accepts "brick-3" and "3".
func ParseBrickID(s string) (BrickID, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, brickPrefix), 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not a brick: write brick-1 or 1", s)
	}
	return BrickID(n), nil
}

// Checksum guards a state or a cookie. It is 64-bit xxHash (XXH64, seed 0): it
// detects accidents, not attackers.
type Checksum uint64

// Sum is the checksum of a state: over its key, version and expiry and every byte
// of its value, so that a value filed under another name does not verify.
func Sum(key Key, version Version, expiry Expiry, value []byte) Checksum {
	var head [28]byte
	binary.LittleEndian.PutUint64(head[0:], uint64(key))
	binary.LittleEndian.PutUint64(head[8:], uint64(version))
	binary.LittleEndian.PutUint32(head[16:], uint32(expiry))
	binary.LittleEndian.PutUint64(head[20:], xxhash.Sum64(value))
	return Checksum(xxhash.Sum64(head[:]))
}

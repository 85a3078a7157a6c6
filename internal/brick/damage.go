package brick

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Part is what of a state a flipped bit lies in.
type Part uint8

// The parts. Together they are all that a store keeps of a state.
const (
	InValue   Part = iota // the user's bytes
	InSum                 // their checksum
	InKey                 // the name that the state is found by
	InVersion             // likewise
	InPlace               // where the bytes lie, and how many there are
)

// String returns what people call the part.
func (p Part) String() string { return [...]string{"value", "checksum", "key", "version", "place"}[p] }

// The bits of a state beside those of its value: see name, state and extent.
const (
	sumBits     = 64
	keyBits     = 64
	versionBits = 64
	placeBits   = 3 * 32
)

// Flipped tells of one bit that a flip has struck.
type Flipped struct {
	// The state by the name that it had before.
	Key     session.Key
	Version session.Version
	Expiry  session.Expiry
	Part    Part
	Bit     int // of the part, from 0
}

// flipStream is the stream of a flip's seed that chooses the bits; see also dropStream.
const flipStream = 6

// victim is a state in the order in which a seed strikes them.
type victim struct {
	rank   uint64
	expiry session.Expiry
	name   name
}

// Flip turns one bit over in each of so many states, or in all if there are fewer. The seed
// chooses the states, all alike, and of all that the store keeps of one the bit, all bits alike. It
// returns what was struck, and does not count: a damaged copy is found when it is asked for.
//
// A bit of the name leaves a state that nobody asks for, and takes it away from who does.
func (s *Store) Flip(now time.Duration, seed uint64, states int) []Flipped {
	s.Elapse(now)
	var all []victim
	for expiry, t := range s.tables {
		for id := range t.states {
			all = append(all, victim{rank(seed, expiry, id), expiry, id})
		}
	}
	slices.SortFunc(all, func(a, b victim) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.expiry, b.expiry),
			cmp.Compare(a.name.key, b.name.key), cmp.Compare(a.name.version, b.name.version))
	})
	rng := rand.New(rand.NewPCG(seed, flipStream))
	var struck []Flipped
	for _, v := range all[:min(states, len(all))] {
		t := s.tables[v.expiry]
		value, _ := t.slab.get(t.states[v.name].where)
		f := Flipped{Key: v.name.key, Version: v.name.version, Expiry: v.expiry}
		f.Part, f.Bit = part(rng.IntN(sumBits + keyBits + versionBits + placeBits + 8*len(value)))
		s.strike(t, v.name, &f)
		struck = append(struck, f)
	}
	return struck
}

// rank spreads the states of a store over 64 bits, differently for each seed, so that the order
// of a map does not matter.
func rank(seed uint64, expiry session.Expiry, id name) uint64 {
	var own [8]byte
	binary.LittleEndian.PutUint64(own[:], seed)
	return uint64(session.Sum(id.key, id.version, expiry, own[:]))
}

// part finds the part in which a bit of a state lies, and its number there. The value is the last.
func part(bit int) (Part, int) {
	for _, p := range []struct {
		part Part
		bits int
	}{{InSum, sumBits}, {InKey, keyBits}, {InVersion, versionBits}, {InPlace, placeBits}} {
		if bit < p.bits {
			return p.part, bit
		}
		bit -= p.bits
	}
	return InValue, bit
}

// strike turns the bit over.
func (s *Store) strike(t *table, id name, f *Flipped) {
	st, bit := t.states[id], uint64(1)<<(f.Bit%64)
	switch f.Part {
	case InValue:
		r := session.Request{Key: f.Key, Version: f.Version, Expiry: f.Expiry}
		if value, intact := t.read(&r, st); intact { // if not, the bytes may be another state's
			value[f.Bit/8] ^= 1 << (f.Bit % 8)
		}
		return
	case InSum:
		st.sum ^= session.Checksum(bit)
	case InPlace:
		field := []*uint32{&st.where.chunk, &st.where.offset, &st.where.size}[f.Bit/32]
		*field ^= 1 << (f.Bit % 32)
	case InKey, InVersion:
		s.forget(t, id)
		if f.Part == InKey {
			id.key ^= session.Key(bit)
		} else {
			id.version ^= session.Version(bit)
		}
		if _, taken := t.states[id]; !taken { // of two of one name, the first is found
			s.keep(t, id, st)
		}
		return
	}
	t.states[id] = st
}

// Fill takes so many bytes of the memory bound away, or with 0 gives them back. What the store
// holds stays; nothing is added until there is room again.
func (s *Store) Fill(bytes int64) {
	s.filled = bytes
	s.spare.shed(s.room())
}

// Filled returns what Fill has taken away.
func (s *Store) Filled() int64 { return s.filled }

// room is how much more the store may hold, in bytes; less than nothing if it holds too much.
func (s *Store) room() int64 { return s.limit - s.filled - s.bytes }

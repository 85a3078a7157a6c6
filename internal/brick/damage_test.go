package brick

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/session"
)

// filledStore holds so many states of a few keys, put in the order of the numbers.
func filledStore(numbers []int) (*Store, map[int]*session.Request) {
	s, all := NewStore(0), make(map[int]*session.Request)
	for _, n := range numbers {
		r := put(session.Key(n%7), session.Expiry(60+n%3), 20+n%50, time.Minute)
		r.Version = session.Version(n)
		r.Sum = session.Sum(r.Key, r.Version, r.Expiry, r.Value)
		s.Put(0, r)
		all[n] = r
	}
	return s, all
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// counted fails a test when the store's counts are not those of its tables.
func counted(t interface{ Fatalf(string, ...any) }, s *Store) {
	held, bytes := uint64(0), int64(0)
	for _, table := range s.tables {
		held += uint64(len(table.states))
		bytes += table.bytes
	}
	if s.held != held || s.bytes != bytes {
		t.Fatalf("%d states of %d bytes are counted, there are %d of %d", s.held, s.bytes, held, bytes)
	}
}

// However many bits flip, a store returns what was written or nothing. What was not struck is
// there; of what was struck, a copy that is found damaged is counted and gone.
func TestFlipIsNeverReturned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, all := filledStore(upTo(rapid.IntRange(0, 60).Draw(t, "states")))
		struck := make(map[name]bool)
		for range rapid.IntRange(1, 4).Draw(t, "flips") {
			for _, f := range s.Flip(0, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 30).Draw(t, "bits")) {
				struck[name{f.Key, f.Version}] = true
			}
			counted(t, s)
		}
		var corrupt uint64
		for _, n := range slices.Sorted(maps.Keys(all)) {
			r := all[n]
			value, got := s.Get(0, r)
			switch {
			case got == session.Done && !bytes.Equal(value, r.Value), got != session.Done && value != nil:
				t.Fatalf("state %d: %v with other bytes than were written", n, got)
			case got != session.Done && !struck[name{r.Key, r.Version}]:
				t.Fatalf("state %d was not struck: %v", n, got)
			case got == session.Corrupt:
				corrupt++
				if _, again := s.Get(0, r); again != session.NotFound {
					t.Fatalf("state %d was corrupt, asked again: %v", n, again)
				}
			}
			if s.Size(r) > 70 {
				t.Fatalf("state %d: Size says %d bytes", n, s.Size(r))
			}
			counted(t, s)
		}
		var stats session.BrickStats
		if s.Stats(&stats); stats.Corrupt != corrupt {
			t.Fatalf("%d corrupt reads are counted, want %d", stats.Corrupt, corrupt)
		}
		if s.Elapse(time.Hour); s.held != 0 || s.bytes != 0 {
			t.Fatalf("%d states of %d bytes when all have elapsed", s.held, s.bytes)
		}
	})
}

// A write that finds a damaged state under its name is kept, not taken for one come twice.
func TestFlipThenPut(t *testing.T) {
	for seed := range uint64(300) {
		s, all := filledStore(upTo(9))
		for range 3 {
			s.Flip(0, seed, 9)
		}
		for n, r := range all {
			if got := s.Put(0, r); got != session.Done {
				t.Fatalf("seed %d, state %d: %v", seed, n, got)
			}
			if value, got := s.Get(0, r); got != session.Done || !bytes.Equal(value, r.Value) {
				t.Fatalf("seed %d, state %d, written again: %v", seed, n, got)
			}
			counted(t, s)
		}
	}
}

// The seed decides what is struck, whatever the order of the writes and of maps.
func TestFlipSeed(t *testing.T) {
	forwards, backwards := upTo(40), upTo(40)
	slices.Reverse(backwards)
	parts := make(map[Part]int)
	last := []Flipped(nil)
	for seed := range uint64(50) {
		a, _ := filledStore(forwards)
		b, _ := filledStore(backwards)
		got, want := a.Flip(0, seed, 5), b.Flip(0, seed, 5)
		if len(got) != 5 || !reflect.DeepEqual(got, want) || reflect.DeepEqual(got, last) {
			t.Errorf("seed %d struck %v, and %v when written in another order; the seed before %v", seed, got, want, last)
		}
		last = got
		for _, f := range got {
			parts[f.Part]++
		}
	}
	for _, p := range []Part{InValue, InSum, InKey, InVersion, InPlace} {
		if parts[p] < 10 {
			t.Errorf("of 250 bits %v are in parts: too few in part %d", parts, p)
		}
	}
	s, _ := filledStore(forwards)
	if got := s.Flip(0, 1, 1000); len(got) != 40 {
		t.Errorf("%d of 40 states struck by 1000 flips", len(got))
	}
	if got := s.Flip(time.Hour, 1, 1000); len(got) != 0 {
		t.Errorf("%d states struck that have elapsed", len(got))
	}
}

// A filled store keeps what it has and takes nothing more, until there is room.
func TestFill(t *testing.T) {
	const limit = 8 << 20
	s := NewStore(limit)
	key := session.Key(0)
	more := func(expiry session.Expiry) session.Status {
		key++
		return s.Put(0, put(key, expiry, 8<<10, time.Duration(expiry)*time.Second))
	}
	for range 300 { // 2.4 MiB
		more(10)
	}
	held := s.bytes
	for _, tt := range []struct {
		fill int64
		want session.Status
	}{{limit, session.Full}, {limit - held, session.Full}, {2 * limit, session.Full}, {limit / 2, session.Done}, {0, session.Done}} {
		if s.Fill(tt.fill); more(20) != tt.want {
			t.Errorf("with %d of %d bytes taken away and %d in use: not %v", tt.fill, int64(limit), held, tt.want)
		}
		if s.memory() > limit+largestChunk {
			t.Errorf("%d bytes in use or kept for reuse", s.memory())
		}
	}
	if _, got := s.Get(0, put(1, 10, 8<<10, 0)); got != session.Done {
		t.Errorf("a state from before: %v", got)
	}
	s.Fill(limit - smallestChunk - 2*StateOverhead)
	if s.Elapse(10 * time.Second); more(20) != session.Full {
		t.Error("the two states of the other table take all that is left, and there was room")
	}
	if s.Elapse(20 * time.Second); more(30) != session.Done {
		t.Error("everything has elapsed, and there is no room in what is left")
	}
}

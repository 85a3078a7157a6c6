package brick

import (
	"bytes"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// put is a write of a state whose bytes follow from its name.
func put(key session.Key, expiry session.Expiry, size int, ttl time.Duration) *session.Request {
	value := bytes.Repeat([]byte{byte(key), byte(expiry), 0x5a}, size/3+1)[:size]
	return &session.Request{
		Op: session.Write, Key: key, Version: 1, Expiry: expiry, TTL: ttl, Value: value,
		Sum: session.Sum(key, 1, expiry, value),
	}
}

// memory is what a store holds on to: what it accounts for and what it keeps for reuse.
func (s *Store) memory() int64 {
	sum := s.bytes
	for _, c := range s.spare.chunks {
		sum += int64(cap(c))
	}
	return sum
}

func TestStoreValueSizes(t *testing.T) {
	sizes := []int{
		0, 1, smallestChunk - 1, smallestChunk, smallestChunk + 1,
		largestChunk - 1, largestChunk, largestChunk + 1, 5 << 20, 0, 1,
	}
	s := NewStore(0)
	for i, size := range sizes {
		if got := s.Put(0, put(session.Key(i), 60, size, time.Minute)); got != session.Done {
			t.Fatalf("%d bytes: %v", size, got)
		}
	}
	for i, size := range sizes {
		want := put(session.Key(i), 60, size, time.Minute)
		value, got := s.Get(0, want)
		if got != session.Done || !bytes.Equal(value, want.Value) {
			t.Errorf("%d bytes: %v, and %d bytes came back", size, got, len(value))
		}
		if n := s.Size(want); n != size {
			t.Errorf("%d bytes: Size says %d", size, n)
		}
		if cap(value) != len(value) {
			t.Errorf("%d bytes: a caller could append over what stands behind", size)
		}
	}
}

func TestStoreElapse(t *testing.T) {
	s := NewStore(0)
	s.Put(0, put(1, 60, 100, 60*time.Second))
	s.Put(0, put(2, 61, 100, 61*time.Second))
	// The clock of another stub is half a second behind: the table lives as long as its last state.
	s.Put(500*ms, put(3, 60, 100, 60*time.Second))
	tests := []struct {
		now  time.Duration
		held uint64
	}{
		{60 * time.Second, 3},
		{60500*ms - 1, 3},
		{60500 * ms, 1},
		{61 * time.Second, 0},
	}
	for _, tt := range tests {
		s.Elapse(tt.now)
		var stats session.BrickStats
		if s.Stats(&stats); stats.Sessions != tt.held || stats.Elapsed != 3-tt.held {
			t.Errorf("at %v: %d states held and %d elapsed, want %d held", tt.now, stats.Sessions, stats.Elapsed, tt.held)
		}
	}
	if s.bytes != 0 || s.next != Never {
		t.Errorf("an empty store accounts for %d bytes and waits for %v", s.bytes, s.next)
	}
	if _, got := s.Get(61*time.Second, put(2, 61, 100, 0)); got != session.NotFound {
		t.Errorf("an elapsed state: %v", got)
	}
}

// The same write come twice changes nothing, whatever it carries the second time.
func TestStorePutTwice(t *testing.T) {
	s := NewStore(0)
	first := put(1, 60, 100, time.Minute)
	s.Put(0, first)
	before := s.memory()
	again := *first
	again.Value = make([]byte, 5000)
	if got := s.Put(time.Second, &again); got != session.Done {
		t.Fatalf("the second time: %v", got)
	}
	value, got := s.Get(time.Second, first)
	if got != session.Done || !bytes.Equal(value, first.Value) {
		t.Errorf("%v, and the state has changed", got)
	}
	if s.held != 1 || s.memory() != before {
		t.Errorf("%d states of %d bytes, want 1 of %d", s.held, s.memory(), before)
	}
}

// Every byte of a state is guarded, also against being found under another name.
func TestStoreFindsCorruption(t *testing.T) {
	s := NewStore(0)
	r := put(1, 60, 300, time.Minute)
	s.Put(0, put(9, 60, 50, time.Minute))
	s.Put(0, r)
	table := s.tables[60]
	where := table.states[name{1, 1}].where
	for i := range where.size {
		at := &table.slab.chunks[where.chunk][where.offset+i]
		*at ^= 0x10
		if value, got := s.Get(0, r); got != session.Corrupt || value != nil {
			t.Fatalf("byte %d flipped: %v, and %d bytes came back", i, got, len(value))
		}
		if value, got := s.Get(0, r); got != session.NotFound || value != nil {
			t.Fatalf("byte %d flipped, asked again: %v, and %d bytes came back", i, got, len(value))
		}
		*at ^= 0x10
		s.keep(table, name{1, 1}, state{where: where, sum: r.Sum})
	}
	s.keep(table, name{2, 1}, table.states[name{1, 1}])
	if _, got := s.Get(0, put(2, 60, 0, 0)); got != session.Corrupt {
		t.Errorf("another key's state: %v", got)
	}
	if _, got := s.Get(0, r); got != session.Done {
		t.Errorf("repaired: %v", got)
	}
	var stats session.BrickStats
	if s.Stats(&stats); stats.Corrupt != uint64(where.size)+1 {
		t.Errorf("%d corrupt reads counted", stats.Corrupt)
	}
}

func TestStoreFullLosesNothing(t *testing.T) {
	const limit = 4 << 20
	s := NewStore(limit)
	var kept []*session.Request
	for k := session.Key(1); ; k++ {
		r := put(k, 60, 8<<10, time.Minute)
		got := s.Put(0, r)
		if got == session.Full {
			break
		}
		kept = append(kept, r)
	}
	if len(kept) < 350 {
		t.Errorf("%d states of 8 KiB fit 4 MiB", len(kept))
	}
	if got := s.Put(0, put(7777, 99, 0, time.Minute)); got != session.Full || len(s.tables) != 1 {
		t.Errorf("a state that needs a table: %v, %d tables", got, len(s.tables))
	}
	for _, r := range kept {
		if _, got := s.Get(0, r); got != session.Done {
			t.Fatalf("key %d: %v", r.Key, got)
		}
	}
	var stats session.BrickStats
	if s.Stats(&stats); stats.Full != 2 || stats.Sessions != uint64(len(kept)) || stats.Bytes > limit {
		t.Errorf("statistics %+v", stats)
	}
	s.Elapse(time.Minute)
	if got := s.Put(time.Minute, put(1, 120, 8<<10, time.Minute)); got != session.Done {
		t.Errorf("after the table has elapsed: %v", got)
	}
}

// States so small that they need no new chunk push out what is kept for reuse, too.
func TestStoreSmallStatesStayUnderTheBound(t *testing.T) {
	const limit = 16 << 20
	s := NewStore(limit)
	for k := range session.Key(limit / largestChunk) {
		s.Put(0, put(k, 1, largestChunk, time.Second))
	}
	for k := session.Key(1); s.Put(time.Second, put(k, 60, 0, time.Minute)) == session.Done; k++ {
		if s.memory() > limit+largestChunk {
			t.Fatalf("state %d: %d bytes held, bound %d", k, s.memory(), limit)
		}
	}
}

func TestApply(t *testing.T) {
	s := NewStore(0)
	w := put(1, 60, 100, time.Minute)
	w.ID = 5
	if got := s.Apply(0, w); got.ID != 5 || got.Status != session.Done || got.Value != nil {
		t.Errorf("write: %+v", got)
	}
	r := &session.Request{ID: 6, Op: session.Read, Key: 1, Version: 1, Expiry: 60}
	if got := s.Apply(0, r); got.ID != 6 || got.Status != session.Done || !bytes.Equal(got.Value, w.Value) {
		t.Errorf("read: %+v", got)
	}
	for _, missing := range []session.Request{
		{Op: session.Read, Key: 2, Version: 1, Expiry: 60},
		{Op: session.Read, Key: 1, Version: 2, Expiry: 60},
		{Op: session.Read, Key: 1, Version: 1, Expiry: 61},
	} {
		if got := s.Apply(0, &missing); got.Status != session.NotFound || got.Value != nil {
			t.Errorf("%+v: %+v", missing, got)
		}
		if s.Size(&missing) != 0 {
			t.Errorf("%+v has a size", missing)
		}
	}
}

// steady brings a store to where as many states come as go, and returns a function
// that puts and gets one more. What that still allocates, it allocates by the table, once in a second: its
// map, which grows by doubling, and the chunks below the largest size, which are not kept for reuse.
func steady(perSecond int) func() {
	s := NewStore(0)
	r := put(1, 0, 8<<10, 2*time.Second)
	i := 0
	step := func() {
		now := time.Duration(i) * time.Second / time.Duration(perSecond)
		r.Version, r.Expiry = session.Version(i), session.Expiry(now/time.Second)+2
		r.Sum = session.Sum(r.Key, r.Version, r.Expiry, r.Value)
		s.Put(now, r)
		s.Get(now, r)
		i++
	}
	for range 10 * perSecond {
		step()
	}
	return step
}

func TestStoreAllocatesByTable(t *testing.T) {
	const perSecond = 1000
	step := steady(perSecond)
	perTable := testing.AllocsPerRun(5, func() {
		for range perSecond {
			step()
		}
	})
	if perTable > 50 {
		t.Errorf("a second of %d states allocates %v times", perSecond, perTable)
	}
	s := NewStore(0)
	r := put(1, 60, 8<<10, time.Minute)
	if n := testing.AllocsPerRun(1000, func() { s.Put(0, r); s.Get(0, r) }); n > 0 {
		t.Errorf("a write that has come before and a read allocate %v times", n)
	}
}

func BenchmarkStore(b *testing.B) {
	step := steady(1000)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

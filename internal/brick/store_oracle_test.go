package brick

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/session"
)

// fullName is all that a state is found by.
type fullName struct {
	key     session.Key
	version session.Version
	expiry  session.Expiry
}

func nameOf(r *session.Request) fullName { return fullName{r.Key, r.Version, r.Expiry} }

// storeOracle is a store as two maps without a bound.
type storeOracle struct {
	values  map[fullName][]byte
	elapses map[session.Expiry]time.Duration
}

func (o *storeOracle) elapse(now time.Duration) {
	for expiry, at := range o.elapses {
		if now < at {
			continue
		}
		delete(o.elapses, expiry)
		for n := range o.values {
			if n.expiry == expiry {
				delete(o.values, n)
			}
		}
	}
}

func (o *storeOracle) put(now time.Duration, r *session.Request) {
	if _, held := o.values[nameOf(r)]; !held {
		o.values[nameOf(r)] = bytes.Clone(r.Value)
	}
	o.elapses[r.Expiry] = max(o.elapses[r.Expiry], now+r.TTL)
}

func (o *storeOracle) check(t *rapid.T, s *Store, limit int64) {
	var payload int64
	for _, v := range o.values {
		payload += int64(len(v)) + StateOverhead
	}
	if s.held != uint64(len(o.values)) || len(s.tables) != len(o.elapses) {
		t.Fatalf("%d states in %d tables, want %d in %d", s.held, len(s.tables), len(o.values), len(o.elapses))
	}
	if s.bytes < payload || s.bytes > limit {
		t.Fatalf("%d bytes accounted for, of %d there and %d allowed", s.bytes, payload, limit)
	}
	if s.memory() > limit+largestChunk {
		t.Fatalf("%d bytes in use or kept for reuse, %d allowed", s.memory(), limit)
	}
}

// drawName draws one of few names, so that they meet again.
func drawName(t *rapid.T) session.Request {
	return session.Request{
		Key:     session.Key(rapid.IntRange(1, 6).Draw(t, "key")),
		Version: session.Version(rapid.IntRange(1, 4).Draw(t, "version")),
		Expiry:  session.Expiry(rapid.IntRange(1, 4).Draw(t, "expiry")),
	}
}

// A few chunks' worth of sizes, the odd ones included.
var drawSize = rapid.OneOf(
	rapid.IntRange(0, 300<<10),
	rapid.SampledFrom([]int{0, 1, smallestChunk - 1, smallestChunk, smallestChunk + 1, largestChunk, largestChunk + 1, 3 << 20}),
)

func TestStoreAgainstOracle(t *testing.T) {
	noise := bytes.Repeat([]byte("session state "), 1<<18)
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int64{1 << 20, 4 << 20, 12 << 20}).Draw(t, "limit")
		s := NewStore(limit)
		o := &storeOracle{values: make(map[fullName][]byte), elapses: make(map[session.Expiry]time.Duration)}
		var now time.Duration
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				r := drawName(t)
				r.TTL = time.Duration(rapid.IntRange(0, 3000).Draw(t, "ttl ms")) * ms
				at := rapid.IntRange(0, 1000).Draw(t, "at")
				r.Value = noise[at : at+drawSize.Draw(t, "size")]
				r.Sum = session.Sum(r.Key, r.Version, r.Expiry, r.Value)
				o.elapse(now)
				_, held := o.values[nameOf(&r)]
				before := s.bytes
				switch got := s.Put(now, &r); got {
				case session.Done:
					o.put(now, &r)
				case session.Full:
					if held {
						t.Fatal("a state that is held finds no room")
					}
					if before+int64(max(largestChunk, len(r.Value)))+StateOverhead <= limit {
						t.Fatalf("full with %d of %d bytes used", before, limit)
					}
				default:
					t.Fatalf("put: %v", got)
				}
			},
			"get": func(t *rapid.T) {
				r := drawName(t)
				o.elapse(now)
				want, held := o.values[nameOf(&r)]
				value, got := s.Get(now, &r)
				if held != (got == session.Done) || !bytes.Equal(value, want) {
					t.Fatalf("get: %v and %d bytes, want held %v and %d bytes", got, len(value), held, len(want))
				}
			},
			"elapse": func(t *rapid.T) {
				now += time.Duration(rapid.IntRange(0, 1000).Draw(t, "after ms")) * ms
				s.Elapse(now)
				o.elapse(now)
			},
			"": func(t *rapid.T) { o.check(t, s, limit) },
		})
	})
}

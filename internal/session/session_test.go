package session

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever names a state, and every bit of the state, moves its checksum.
func TestSumSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := Key(rapid.Uint64().Draw(t, "key"))
		version := Version(rapid.Uint64().Draw(t, "version"))
		expiry := Expiry(rapid.Uint32().Draw(t, "expiry"))
		value := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "value")
		sum := Sum(key, version, expiry, value)
		differs := func(what string, other Checksum) {
			if other == sum {
				t.Fatalf("the same checksum with another %s", what)
			}
		}
		differs("key", Sum(key^1<<rapid.IntRange(0, 63).Draw(t, "key bit"), version, expiry, value))
		differs("version", Sum(key, version^1<<rapid.IntRange(0, 63).Draw(t, "version bit"), expiry, value))
		differs("expiry", Sum(key, version, expiry^1<<rapid.IntRange(0, 31).Draw(t, "expiry bit"), value))
		differs("length", Sum(key, version, expiry, value[:len(value)-1]))
		differs("length", Sum(key, version, expiry, append(value[:len(value):len(value)], 0)))
		at := rapid.IntRange(0, 8*len(value)-1).Draw(t, "value bit")
		value[at/8] ^= 1 << (at % 8)
		differs("value", Sum(key, version, expiry, value))
		value[at/8] ^= 1 << (at % 8)
		if Sum(key, version, expiry, value) != sum {
			t.Fatal("the same state has two checksums")
		}
	})
}

func TestQuorumValidate(t *testing.T) {
	tests := []struct {
		name   string
		q      Quorum
		bricks int
		wrong  string // the number that cannot be; empty: valid
	}{
		{"published", Quorum{3, 2, 1}, 8, ""},
		{"cluster not known yet", Quorum{3, 2, 1}, 0, ""},
		{"exactly enough bricks", Quorum{3, 2, 1}, 3, ""},
		{"smallest", Quorum{1, 1, 1}, 1, ""},
		{"largest", Quorum{MaxReplicas, MaxReplicas, MaxReplicas}, MaxReplicas, ""},
		{"zero", Quorum{}, 8, "w"},
		{"negative w", Quorum{-1, 1, 1}, 8, "w"},
		{"w over the cookie's room", Quorum{MaxReplicas + 1, 2, 1}, 0, "w"},
		{"no acknowledgement", Quorum{3, 0, 1}, 8, "wq"},
		{"more acknowledgements than copies", Quorum{3, 4, 1}, 8, "wq"},
		{"no brick to read", Quorum{3, 2, 0}, 8, "r"},
		{"more bricks to read than a cookie names", Quorum{3, 2, 3}, 8, "r"},
		{"too few bricks", Quorum{3, 2, 1}, 2, "w"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.q.Validate(tt.bricks)
			if tt.wrong == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var q *QuorumError
			if !errors.As(err, &q) || q.Name != tt.wrong {
				t.Fatalf("error %v, want one of %s", err, tt.wrong)
			}
			if !strings.HasPrefix(err.Error(), tt.wrong+": ") || q.Hint == "" {
				t.Errorf("error %q does not begin with the number's name and go on with a hint", err)
			}
		})
	}
}

func TestParseBrickID(t *testing.T) {
	tests := []struct {
		s    string
		want BrickID // zero: refused
	}{
		{"1", 1},
		{"brick-3", 3},
		{"4294967295", 1<<32 - 1},
		{"brick-4294967295", 1<<32 - 1},
		{"", 0},
		{"brick-", 0},
		{"0", 0},
		{"brick-0", 0},
		{"-1", 0},
		{"+1", 0},
		{"4294967296", 0},
		{"brick-brick-1", 0},
		{"Brick-1", 0},
		{"brick 1", 0},
		{"1 ", 0},
		{"0x1", 0},
	}
	for _, tt := range tests {
		got, err := ParseBrickID(tt.s)
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("%q: %v and error %v, want %v", tt.s, uint32(got), err, uint32(tt.want))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := BrickID(rapid.Uint32Min(1).Draw(t, "id"))
		if again, err := ParseBrickID(id.String()); err != nil || again != id {
			t.Fatalf("%v came back as %v, error %v", id, again, err)
		}
	})
}

func TestNames(t *testing.T) {
	if Write.String() != "write" || Read.String() != "read" {
		t.Errorf("operations are called %v and %v", Write, Read)
	}
	for o := OK; o <= NumOutcomes; o++ {
		if known := !strings.HasPrefix(o.String(), "outcome("); known != (o < NumOutcomes) {
			t.Errorf("outcome %d is called %v", uint8(o), o)
		}
	}
	for s := Done; s <= NumStatuses; s++ {
		if known := s.String() != "unknown"; known != (s < NumStatuses) {
			t.Errorf("status %d is called %v", uint8(s), s)
		}
	}
}

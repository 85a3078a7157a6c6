package loadgen

import (
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/session"
)

// The comment on kept and the docs say so.
func TestKeptBytes(t *testing.T) {
	if n := unsafe.Sizeof(kept{}); n != 112 && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("a write is remembered in %d bytes, want 112", n)
	}
}

// A memory holds what a plain list would, and never much more.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := memory{limit: rapid.IntRange(1, 300).Draw(t, "limit")}
		life := rapid.IntRange(1, 10).Draw(t, "life")
		var plain []session.Cookie
		var now time.Duration
		written, forgotten := 0, map[session.Expiry]uint64{}
		for range rapid.IntRange(1, 400).Draw(t, "writes") {
			now += time.Duration(rapid.IntRange(0, 200).Draw(t, "after ms")) * ms
			written++
			c := session.Cookie{Key: 7, Version: session.Version(written), Expiry: session.Expiry(now/second) + session.Expiry(life)}
			m.add(now, &c, now)
			for len(plain) > 0 && plain[0].Expiry.Passed(now) {
				plain = plain[1:]
			}
			if len(plain) == m.limit {
				forgotten[plain[0].Expiry]++
				plain = plain[1:]
			}
			plain = append(plain, c)
			if len(m.all) > 2*len(plain)+64 {
				t.Fatalf("%d entries for %d writes", len(m.all), len(plain))
			}
		}
		for version := range session.Version(written + 2) {
			at := len(plain) - written + int(version) - 1
			want := at >= 0 && at < len(plain)
			if k := m.find(&session.Cookie{Key: 7, Version: version}); (k != nil) != want {
				t.Fatalf("version %d of %d is remembered: %v, want %v", version, written, k != nil, want)
			}
		}
		if m.find(&session.Cookie{Key: 8, Version: session.Version(written)}) != nil {
			t.Fatal("another key's write is remembered")
		}
		var gone uint64
		for expiry, n := range forgotten {
			if time.Duration(expiry)*second > now {
				gone += n
			}
		}
		if got := m.settle(now); got != gone || len(m.all) != len(plain) {
			t.Fatalf("%d writes left and %d forgotten, want %d and %d", len(m.all), got, len(plain), gone)
		}
	})
}

// A write may be lost when each of its bricks has failed since it began.
func TestLivesAllow(t *testing.T) {
	write := kept{began: 10 * second}
	write.cookie.AddBrick(2)
	write.cookie.AddBrick(5)
	for _, tt := range []struct {
		name    string
		happens func(lives)
		want    bool
	}{
		{"nothing", func(lives) {}, false},
		{"one has died", func(l lives) { l.gone(11*second, 2) }, false},
		{"both have died", func(l lives) { l.gone(11*second, 2); l.gone(12*second, 5) }, true},
		{"one before", func(l lives) { l.gone(9*second, 2); l.gone(12*second, 5) }, false},
		{"another", func(l lives) { l.gone(11*second, 2); l.gone(12*second, 3) }, false},
		{"one is damaged, one has died", func(l lives) { l.damaged(11*second, 2); l.gone(12*second, 5) }, true},
		{"one was damaged before", func(l lives) { l.damaged(9*second, 2); l.gone(12*second, 5) }, false},
		{"one is there again, and young", func(l lives) {
			l.up(10*second, 2, time.Hour)
			l.gone(11*second, 2)
			l.up(13*second, 2, second)
			l.gone(12*second, 5)
		}, true},
		{"one was out of reach only", func(l lives) {
			l.up(10*second, 2, time.Hour)
			l.gone(11*second, 2)
			l.up(13*second, 2, time.Hour+3*second)
			l.gone(12*second, 5)
		}, false},
		{"one was out of reach twice", func(l lives) {
			l.up(10*second, 2, time.Hour)
			l.gone(11*second, 2)
			l.gone(12*second, 2)
			l.up(13*second, 2, time.Hour+3*second)
			l.gone(12*second, 5)
		}, false},
		{"one was out of reach after it had died", func(l lives) {
			l.up(10*second, 2, time.Hour)
			l.gone(11*second, 2)
			l.up(13*second, 2, second)
			l.gone(14*second, 2)
			l.up(15*second, 2, 3*second)
			l.gone(12*second, 5)
		}, true},
		{"one was damaged while it was out of reach", func(l lives) {
			l.up(10*second, 2, time.Hour)
			l.gone(11*second, 2)
			l.damaged(12*second, 2)
			l.up(13*second, 2, time.Hour+3*second)
			l.gone(12*second, 5)
		}, true},
		{"one never said how old it was", func(l lives) {
			l.gone(11*second, 2)
			l.up(13*second, 2, time.Hour)
			l.gone(12*second, 5)
		}, true},
	} {
		l := make(lives)
		if tt.happens(l); l.allows(&write) != tt.want {
			t.Errorf("%s: it may be lost: %v", tt.name, !tt.want)
		}
	}
}

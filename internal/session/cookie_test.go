package session

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func cookieOf(bricks ...BrickID) Cookie {
	c := Cookie{Key: 7, Version: 3, Expiry: 120, Sum: Sum(7, 3, 120, []byte("state"))}
	for _, id := range bricks {
		c.AddBrick(id)
	}
	return c
}

// drawCookie draws any cookie that a stub could make.
func drawCookie(t *rapid.T) Cookie {
	c := Cookie{
		Key:     Key(rapid.Uint64().Draw(t, "key")),
		Version: Version(rapid.Uint64().Draw(t, "version")),
		Expiry:  Expiry(rapid.Uint32().Draw(t, "expiry")),
		Sum:     Checksum(rapid.Uint64().Draw(t, "sum")),
	}
	ids := rapid.SliceOfNDistinct(rapid.Uint32Min(1), 0, MaxReplicas, rapid.ID[uint32]).Draw(t, "bricks")
	for _, id := range ids {
		c.AddBrick(BrickID(id))
	}
	return c
}

func TestCookieRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCookie(t)
		fromBytes, err := DecodeCookie(c.AppendBinary(nil))
		if err != nil {
			t.Fatal(err)
		}
		fromText, err := ParseCookie(c.String())
		if err != nil {
			t.Fatal(err)
		}
		if fromBytes != c || fromText != c {
			t.Fatalf("%+v came back as %+v from bytes and %+v from text", c, fromBytes, fromText)
		}
		if prefixed := c.AppendBinary([]byte("before")); string(prefixed) != "before"+string(c.AppendBinary(nil)) {
			t.Fatal("AppendBinary depends on what stands before")
		}
	})
}

func TestCookieRefusesEveryFlippedBit(t *testing.T) {
	for n := range MaxReplicas + 1 {
		ids := make([]BrickID, n)
		for i := range ids {
			ids[i] = BrickID(i + 1)
		}
		c := cookieOf(ids...)
		for bit := range 8 * len(c.AppendBinary(nil)) {
			src := c.AppendBinary(nil)
			src[bit/8] ^= 1 << (bit % 8)
			if _, err := DecodeCookie(src); !errors.Is(err, ErrCookie) {
				t.Fatalf("%d bricks, bit %d flipped: error %v", n, bit, err)
			}
		}
		for bit := range 8 * len(c.String()) {
			text := []byte(c.String())
			text[bit/8] ^= 1 << (bit % 8)
			if _, err := ParseCookie(string(text)); !errors.Is(err, ErrCookie) {
				t.Fatalf("%d bricks, bit %d of the text flipped: error %v", n, bit, err)
			}
		}
	}
}

// sealed is a cookie whose own checksum is right, whatever else is wrong with it.
func sealed(count uint8, bricks ...BrickID) []byte {
	c := Cookie{count: count}
	copy(c.bricks[:], bricks)
	return c.AppendBinary(nil)
}

func TestDecodeCookieErrors(t *testing.T) {
	whole := cookieOf(1, 2)
	bytes := whole.AppendBinary(nil)
	tests := []struct {
		name string
		src  []byte
	}{
		{"nothing", nil},
		{"head alone", bytes[:cookieHead]},
		{"one byte short", bytes[:len(bytes)-1]},
		{"one byte long", append(slices.Clone(bytes), 0)},
		{"format of the future", append([]byte{cookieFormat + 1}, bytes[1:]...)},
		{"more bricks than the cookie can name", append([]byte{cookieFormat, MaxReplicas + 1}, make([]byte, cookieHead+4*(MaxReplicas+1)+cookieTail-2)...)},
		{"brick zero", sealed(2, 1, 0)},
		{"brick named twice", sealed(3, 1, 2, 1)},
	}
	for _, tt := range tests {
		c, err := DecodeCookie(tt.src)
		if !errors.Is(err, ErrCookie) {
			t.Errorf("%s: error %v, want ErrCookie", tt.name, err)
		}
		if len(c.Bricks()) > 0 {
			t.Errorf("%s: the cookie that comes with the error names %v", tt.name, c.Bricks())
		}
	}
}

// One state has one text, so that texts can be compared.
func TestParseCookieErrors(t *testing.T) {
	c := cookieOf(1, 2)
	text := c.String()
	last := text[len(text)-1]
	for _, s := range []string{"", "?", text + "=", text + "\n", text[:8] + "\r\n" + text[8:], text[:len(text)-1] + string(last+1)} {
		if _, err := ParseCookie(s); !errors.Is(err, ErrCookie) {
			t.Errorf("%q: error %v, want ErrCookie", s, err)
		}
	}
}

func TestCookieAddBrick(t *testing.T) {
	var c Cookie
	var want []BrickID
	for id := BrickID(1); id <= MaxReplicas; id++ {
		if !c.AddBrick(id) {
			t.Fatalf("%v refused", id)
		}
		want = append(want, id)
	}
	if c.AddBrick(MaxReplicas + 1) {
		t.Error("a full cookie took one more brick")
	}
	if diff := cmp.Diff(want, c.Bricks()); diff != "" {
		t.Errorf("bricks (-want +got):\n%s", diff)
	}
}

func FuzzCookie(f *testing.F) {
	for _, c := range []Cookie{{}, cookieOf(1), cookieOf(3, 1, 2)} {
		f.Add(c.String())
	}
	f.Add("AQ\n")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCookie(s)
		if err != nil {
			if !errors.Is(err, ErrCookie) {
				t.Fatalf("%q: error %v does not wrap ErrCookie", s, err)
			}
			return
		}
		if again := c.String(); again != s {
			t.Fatalf("%q came back as %q", s, again)
		}
	})
}

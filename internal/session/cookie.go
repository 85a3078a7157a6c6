package session

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// MaxReplicas bounds W, and with it the number of bricks that a cookie can name.
const MaxReplicas = 16

// Cookie is what a client keeps of a write: it names the state, the bricks that
// acknowledged it first, and the checksum that a reply must match. The bricks hold no
// directory; without its cookie a state cannot be found.
//
// The zero cookie names no bricks and cannot be read.
type Cookie struct {
	Key     Key
	Version Version
	Expiry  Expiry
	Sum     Checksum
	count   uint8
	bricks  [MaxReplicas]BrickID
}

// AddBrick names one more brick that holds the state. It reports false, and
// changes nothing, when the cookie is full.
func (c *Cookie) AddBrick(id BrickID) bool {
	if int(c.count) == MaxReplicas {
		return false
	}
	c.bricks[c.count] = id
	c.count++
	return true
}

// Bricks returns the bricks in the order in which they acknowledged. The slice
// points into the cookie.
func (c *Cookie) Bricks() []BrickID { return c.bricks[:c.count] }

// A cookie's bytes: a format byte, the count of bricks, key, version, expiry,
// checksum of the state, the bricks, and last the checksum of all that stands before.
const (
	cookieFormat = 1
	cookieHead   = 2 + 8 + 8 + 4 + 8
	cookieTail   = 8
)

// ErrCookie is the error of every cookie that does not decode.
var ErrCookie = errors.New("not a valid cookie")

// AppendBinary appends the cookie's bytes, checksum included, to dst.
func (c *Cookie) AppendBinary(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, cookieFormat, c.count)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Key))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Version))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(c.Expiry))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Sum))
	for _, id := range c.Bricks() {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(id))
	}
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

// DecodeCookie is the inverse of AppendBinary. Every error wraps ErrCookie.
func DecodeCookie(src []byte) (Cookie, error) {
	var c Cookie
	if len(src) < cookieHead+cookieTail || src[0] != cookieFormat {
		return c, fmt.Errorf("%w: too short, or of an unknown format", ErrCookie)
	}
	n := int(src[1])
	if n > MaxReplicas || len(src) != cookieHead+4*n+cookieTail {
		return c, fmt.Errorf("%w: %d bricks do not fit %d bytes", ErrCookie, n, len(src))
	}
	body := src[:len(src)-cookieTail]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(src[len(body):]) {
		return c, fmt.Errorf("%w: its checksum does not match", ErrCookie)
	}
	c.Key = Key(binary.LittleEndian.Uint64(body[2:]))
	c.Version = Version(binary.LittleEndian.Uint64(body[10:]))
	c.Expiry = Expiry(binary.LittleEndian.Uint32(body[18:]))
	c.Sum = Checksum(binary.LittleEndian.Uint64(body[22:]))
	for i := range n {
		id := BrickID(binary.LittleEndian.Uint32(body[cookieHead+4*i:]))
		if id == 0 || slices.Contains(c.Bricks(), id) {
			return Cookie{}, fmt.Errorf("%w: a brick is zero or named twice", ErrCookie)
		}
		c.AddBrick(id)
	}
	return c, nil
}

// cookieText is strict, so that a cookie has one text only.
var cookieText = base64.RawURLEncoding.Strict()

// String returns the cookie in the form in which a browser would carry it:
// unpadded URL-safe base64 of its bytes.
func (c *Cookie) String() string {
	return cookieText.EncodeToString(c.AppendBinary(nil))
}

// ParseCookie is the inverse of String. Every error wraps ErrCookie.
func ParseCookie(s string) (Cookie, error) {
	src, err := cookieText.DecodeString(s)
	if err != nil {
		return Cookie{}, fmt.Errorf("%w: %w", ErrCookie, err)
	}
	if strings.ContainsAny(s, "\r\n") { // which even a strict decoder skips
		return Cookie{}, fmt.Errorf("%w: it is broken over lines", ErrCookie)
	}
	return DecodeCookie(src)
}

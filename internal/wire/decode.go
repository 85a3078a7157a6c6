package wire

import (
	"math"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// cursor takes a frame's body apart. A body that is too short sets bad and gives
// zeros, so that one check at the end is enough.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) take(n int) []byte {
	if len(c.rest) < n {
		c.bad = true
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *cursor) u8() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return le.Uint32(b)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return le.Uint64(b)
	}
	return 0
}

// done checks that the body was as long as it had to be, and no longer.
func (c *cursor) done(what string) error {
	if c.bad || len(c.rest) > 0 {
		return protocolError("a %s of the wrong length", what)
	}
	return nil
}

// DecodeHello checks the body of the frame that opens a conversation.
func DecodeHello(body []byte) error {
	c := cursor{rest: body}
	magic, version := c.take(len(helloMagic)), c.u8()
	if err := c.done("hello"); err != nil {
		return err
	}
	if string(magic) != helloMagic {
		return protocolError("a hello of something else")
	}
	if version != ProtocolVersion {
		return protocolError("version %d, this is %d: run the same ssmctl on both sides", version, ProtocolVersion)
	}
	return nil
}

// maxTTL bounds the life of a state, so that adding it to an instant cannot overflow.
const maxTTL = 10 * 365 * 24 * time.Hour

// DecodeRequest reads an operation. Its value points into body.
func DecodeRequest(body []byte) (session.Request, error) {
	c := cursor{rest: body}
	r := session.Request{
		Op: session.Op(c.u8()), ID: c.u64(), Key: session.Key(c.u64()), Version: session.Version(c.u64()),
		Expiry: session.Expiry(c.u32()), Timeout: time.Duration(c.u32()) * time.Microsecond,
	}
	switch r.Op {
	case session.Read:
		return r, c.done("read")
	case session.Write:
		r.TTL, r.Sum = time.Duration(c.u64()), session.Checksum(c.u64())
		r.Value = c.rest
		if c.bad || r.TTL < 0 || r.TTL > maxTTL || len(r.Value) > MaxValue {
			return r, protocolError("a write out of bounds")
		}
		return r, nil
	}
	return r, protocolError("operation %d", r.Op)
}

// sane reports whether so many operations can be a share.
func sane(ops float64) bool { return ops >= 0 && ops <= math.MaxInt32 }

// DecodeReply reads the answer to an operation. Its value points into body.
func DecodeReply(body []byte) (session.Reply, error) {
	c := cursor{rest: body}
	r := session.Reply{ID: c.u64(), Status: session.Status(c.u8()), Share: math.Float32frombits(c.u32())}
	if c.bad || !sane(float64(r.Share)) || r.Status >= session.NumStatuses || len(c.rest) > MaxValue {
		return r, protocolError("a reply out of bounds")
	}
	if len(c.rest) > 0 {
		r.Value = c.rest
	}
	return r, nil
}

// DecodeCommand reads an order.
func DecodeCommand(body []byte) (Command, error) {
	c := cursor{rest: body}
	cmd := Command{Seq: c.u32(), Verb: Verb(c.u8())}
	setting := c.u8()
	if err := c.done("command"); err != nil {
		return cmd, err
	}
	if cmd.Verb < VerbStatus || cmd.Verb > VerbReset {
		return cmd, protocolError("command %d", cmd.Verb)
	}
	var err error
	cmd.Setting, err = settingOf(setting)
	return cmd, err
}

// DecodeHeartbeat reads a sign of life.
func DecodeHeartbeat(body []byte) (Heartbeat, error) {
	c := cursor{rest: body}
	h := Heartbeat{Seq: c.u32(), Brick: session.BrickID(c.u32())}
	setting := c.u8()
	for _, field := range statFields(&h.Stats) {
		*field = c.u64()
	}
	h.Stats.Uptime, h.Stats.Lag, h.Stats.LagP99 = time.Duration(c.u64()), time.Duration(c.u64()), time.Duration(c.u64())
	h.Stats.Share = math.Float64frombits(c.u64())
	if err := c.done("heartbeat"); err != nil {
		return h, err
	}
	if !sane(h.Stats.Share) {
		return h, protocolError("a share of %v operations", h.Stats.Share)
	}
	if h.Brick == 0 {
		return h, protocolError("a brick without a number")
	}
	var s protect.Setting
	s, err := settingOf(setting)
	h.Setting = s
	return h, err
}

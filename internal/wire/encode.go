package wire

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

var le = binary.LittleEndian

// begin opens a frame; end closes it by filling in its length.
func begin(dst []byte, k Kind) ([]byte, int) {
	at := len(dst)
	return append(dst, 0, 0, 0, 0, byte(k)), at
}

func end(dst []byte, at int) []byte {
	le.PutUint32(dst[at:], uint32(len(dst)-at-lengthBytes))
	return dst
}

// AppendHello appends the frame that opens a conversation.
func AppendHello(dst []byte) []byte {
	dst, at := begin(dst, KindHello)
	dst = append(dst, helloMagic...)
	return end(append(dst, ProtocolVersion), at)
}

// AppendRequest appends an operation.
func AppendRequest(dst []byte, r *session.Request) []byte {
	dst, at := begin(dst, KindRequest)
	dst = append(dst, byte(r.Op))
	dst = le.AppendUint64(dst, r.ID)
	dst = le.AppendUint64(dst, uint64(r.Key))
	dst = le.AppendUint64(dst, uint64(r.Version))
	dst = le.AppendUint32(dst, uint32(r.Expiry))
	dst = le.AppendUint32(dst, micros(r.Timeout))
	if r.Op == session.Write {
		dst = le.AppendUint64(dst, uint64(r.TTL))
		dst = le.AppendUint64(dst, uint64(r.Sum))
		dst = append(dst, r.Value...)
	}
	return end(dst, at)
}

// AppendReply appends the answer to an operation.
func AppendReply(dst []byte, r *session.Reply) []byte {
	dst, at := begin(dst, KindReply)
	dst = le.AppendUint64(dst, r.ID)
	dst = append(dst, byte(r.Status))
	dst = le.AppendUint32(dst, math.Float32bits(r.Share))
	return end(append(dst, r.Value...), at)
}

// AppendCommand appends an order.
func AppendCommand(dst []byte, c Command) []byte {
	dst, at := begin(dst, KindCommand)
	dst = le.AppendUint32(dst, c.Seq)
	return end(append(dst, byte(c.Verb), settingByte(c.Setting)), at)
}

// AppendHeartbeat appends a sign of life.
func AppendHeartbeat(dst []byte, h *Heartbeat) []byte {
	dst, at := begin(dst, KindHeartbeat)
	dst = le.AppendUint32(dst, h.Seq)
	dst = le.AppendUint32(dst, uint32(h.Brick))
	dst = append(dst, settingByte(h.Setting))
	stats := h.Stats
	for _, field := range statFields(&stats) {
		dst = le.AppendUint64(dst, *field)
	}
	dst = le.AppendUint64(dst, uint64(stats.Uptime))
	dst = le.AppendUint64(dst, uint64(stats.Lag))
	dst = le.AppendUint64(dst, uint64(stats.LagP99))
	dst = le.AppendUint64(dst, math.Float64bits(stats.Share))
	return end(dst, at)
}

// statFields lists the counters in their order on the wire.
func statFields(s *session.BrickStats) []*uint64 {
	return []*uint64{
		&s.Sessions, &s.Bytes, &s.InboxLen, &s.InboxBytes, &s.Connected, &s.Writes, &s.Reads,
		&s.Discarded, &s.Dropped, &s.Full, &s.Corrupt, &s.Garbage, &s.Elapsed,
	}
}

// micros rounds up, so that a short time-out does not become none.
func micros(d time.Duration) uint32 {
	const longest = 1<<32 - 1
	return uint32(min((max(d, 0)+time.Microsecond-1)/time.Microsecond, longest))
}

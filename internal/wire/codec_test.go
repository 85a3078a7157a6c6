package wire

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// bodyOf takes the body out of the one frame that encode appends.
func bodyOf(frame []byte) []byte { return frame[lengthBytes+1:] }

var (
	someWrite = session.Request{
		ID: 1<<32 | 7, Op: session.Write, Key: 3, Version: 2, Expiry: 120, Sum: 0xfeed, TTL: 2 * time.Minute,
		Timeout: 60 * time.Millisecond, Value: []byte("a state"),
	}
	someRead    = session.Request{ID: 9, Op: session.Read, Key: 3, Version: 2, Expiry: 120, Timeout: time.Microsecond}
	someReply   = session.Reply{ID: 9, Status: session.Done, Share: 0.25, Value: []byte("a state")}
	someCommand = Command{Seq: 4, Verb: VerbProtection, Setting: protect.On}
	someBeat    = Heartbeat{Seq: 4, Brick: 3, Setting: protect.WindowOnly, Stats: session.BrickStats{
		Uptime: time.Hour, Sessions: 1, Bytes: 2, InboxLen: 3, InboxBytes: 4, Connected: 5, Writes: 6, Reads: 7, Discarded: 8,
		Dropped: 9, Full: 10, Corrupt: 11, Garbage: 12, Elapsed: 13, Lag: 14, LagP99: 15, Share: 16.5,
	}}
)

// same decodes a body and, if that is possible, demands the same body back. A body
// that does not decode must say so by ErrProtocol.
func same[T any](t *testing.T, body []byte, decode func([]byte) (T, error), encode func([]byte, T) []byte) {
	v, err := decode(body)
	if err != nil {
		if !errors.Is(err, ErrProtocol) {
			t.Fatalf("%x: error %v does not wrap ErrProtocol", body, err)
		}
		return
	}
	if again := bodyOf(encode(nil, v)); !bytes.Equal(again, body) {
		t.Fatalf("%x came back as %x", body, again)
	}
}

func encodeRequest(dst []byte, r session.Request) []byte { return AppendRequest(dst, &r) }
func encodeReply(dst []byte, r session.Reply) []byte     { return AppendReply(dst, &r) }
func encodeHeartbeat(dst []byte, h Heartbeat) []byte     { return AppendHeartbeat(dst, &h) }

func FuzzDecodeHello(f *testing.F) {
	f.Add(bodyOf(AppendHello(nil)))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		decode := func(b []byte) (struct{}, error) { return struct{}{}, DecodeHello(b) }
		same(t, body, decode, func(dst []byte, _ struct{}) []byte { return AppendHello(dst) })
	})
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add(bodyOf(AppendRequest(nil, &someWrite)))
	f.Add(bodyOf(AppendRequest(nil, &someRead)))
	f.Fuzz(func(t *testing.T, body []byte) { same(t, body, DecodeRequest, encodeRequest) })
}

func FuzzDecodeReply(f *testing.F) {
	f.Add(bodyOf(AppendReply(nil, &someReply)))
	f.Add(bodyOf(AppendReply(nil, &session.Reply{ID: 1, Status: session.NotFound})))
	f.Add(bodyOf(AppendReply(nil, &session.Reply{ID: 1, Status: session.Busy})))
	f.Fuzz(func(t *testing.T, body []byte) { same(t, body, DecodeReply, encodeReply) })
}

func FuzzDecodeCommand(f *testing.F) {
	f.Add(bodyOf(AppendCommand(nil, someCommand)))
	f.Fuzz(func(t *testing.T, body []byte) { same(t, body, DecodeCommand, AppendCommand) })
}

func FuzzDecodeHeartbeat(f *testing.F) {
	f.Add(bodyOf(AppendHeartbeat(nil, &someBeat)))
	f.Fuzz(func(t *testing.T, body []byte) { same(t, body, DecodeHeartbeat, encodeHeartbeat) })
}

// roundTrip demands that nothing of a message is lost on the wire.
func roundTrip[T any](t *testing.T, v T, decode func([]byte) (T, error), encode func([]byte, T) []byte) {
	t.Helper()
	got, err := decode(bodyOf(encode(nil, v)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, got); diff != "" {
		t.Errorf("came back differently (-sent +received):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	if err := DecodeHello(bodyOf(AppendHello(nil))); err != nil {
		t.Error(err)
	}
	roundTrip(t, someWrite, DecodeRequest, encodeRequest)
	roundTrip(t, someRead, DecodeRequest, encodeRequest)
	roundTrip(t, someReply, DecodeReply, encodeReply)
	for _, s := range protect.Settings() {
		roundTrip(t, Command{Verb: VerbProtection, Setting: s}, DecodeCommand, AppendCommand)
	}
	roundTrip(t, someCommand, DecodeCommand, AppendCommand)
	roundTrip(t, someBeat, DecodeHeartbeat, encodeHeartbeat)
}

// Every field of a brick's statistics has its own place on the wire.
func TestHeartbeatKeepsStatistics(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := Heartbeat{
			Seq: rapid.Uint32().Draw(rt, "seq"), Brick: session.BrickID(rapid.Uint32Min(1).Draw(rt, "brick")),
			Setting: rapid.SampledFrom(protect.Settings()).Draw(rt, "setting"),
			Stats:   rapid.Make[session.BrickStats]().Draw(rt, "stats"),
		}
		h.Stats.Share = rapid.Float64Range(0, math.MaxInt32).Draw(rt, "share")
		got, err := DecodeHeartbeat(bodyOf(AppendHeartbeat(nil, &h)))
		if err != nil || got != h {
			rt.Fatalf("%+v came back as %+v, error %v", h, got, err)
		}
	})
}

func TestDecodeErrors(t *testing.T) {
	request := func(change func(*session.Request)) []byte {
		r := someWrite
		change(&r)
		return bodyOf(AppendRequest(nil, &r))
	}
	changed := func(frame []byte, at int, to byte) []byte {
		body := bodyOf(frame)
		body[at] = to
		return body
	}
	tests := []struct {
		name   string
		body   []byte
		decode func([]byte) error
	}{
		{"hello of another version", changed(AppendHello(nil), 4, ProtocolVersion+1), DecodeHello},
		{"hello of something else", changed(AppendHello(nil), 0, 'X'), DecodeHello},
		{"hello and more", append(bodyOf(AppendHello(nil)), 0), DecodeHello},
		{"operation that is none", changed(AppendRequest(nil, &someRead), 0, byte(session.NumOps)), asError(DecodeRequest)},
		{"read with a value", append(bodyOf(AppendRequest(nil, &someRead)), 1), asError(DecodeRequest)},
		{"ttl below zero", request(func(r *session.Request) { r.TTL = -1 }), asError(DecodeRequest)},
		{"ttl that would overflow an instant", request(func(r *session.Request) { r.TTL = maxTTL + 1 }), asError(DecodeRequest)},
		{"value too large", request(func(r *session.Request) { r.Value = make([]byte, MaxValue+1) }), asError(DecodeRequest)},
		{"status that is none", changed(AppendReply(nil, &someReply), 8, byte(session.NumStatuses)), asError(DecodeReply)},
		{"share that is none", changed(AppendReply(nil, &someReply), 12, 0xff), asError(DecodeReply)},
		{"verb that is none", changed(AppendCommand(nil, someCommand), 4, byte(VerbReset)+1), asError(DecodeCommand)},
		{"verb zero", changed(AppendCommand(nil, someCommand), 4, 0), asError(DecodeCommand)},
		{"setting that is none", changed(AppendCommand(nil, someCommand), 5, 6), asError(DecodeCommand)},
		{"brick zero", bodyOf(AppendHeartbeat(nil, &Heartbeat{})), asError(DecodeHeartbeat)},
	}
	for _, tt := range tests {
		if err := tt.decode(tt.body); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: error %v, want ErrProtocol", tt.name, err)
		}
	}
}

func asError[T any](decode func([]byte) (T, error)) func([]byte) error {
	return func(body []byte) error {
		_, err := decode(body)
		return err
	}
}

// No prefix of a message is a message, but for those that end in a value.
func TestDecodeCutShort(t *testing.T) {
	tests := []struct {
		name   string
		body   []byte
		fixed  int // bytes before a value
		decode func([]byte) error
	}{
		{"hello", bodyOf(AppendHello(nil)), 5, DecodeHello},
		{"write", bodyOf(AppendRequest(nil, &someWrite)), 49, asError(DecodeRequest)},
		{"read", bodyOf(AppendRequest(nil, &someRead)), 33, asError(DecodeRequest)},
		{"reply", bodyOf(AppendReply(nil, &someReply)), 13, asError(DecodeReply)},
		{"command", bodyOf(AppendCommand(nil, someCommand)), 6, asError(DecodeCommand)},
		{"heartbeat", bodyOf(AppendHeartbeat(nil, &someBeat)), 145, asError(DecodeHeartbeat)},
	}
	for _, tt := range tests {
		for n := range len(tt.body) {
			if err := tt.decode(tt.body[:n]); errors.Is(err, ErrProtocol) != (n < tt.fixed) {
				t.Errorf("%s of %d bytes: error %v, it has %d before a value", tt.name, n, err, tt.fixed)
			}
		}
	}
}

func TestTimeoutIsRoundedUp(t *testing.T) {
	tests := []struct{ sent, want time.Duration }{
		{-time.Second, 0},
		{0, 0},
		{1, time.Microsecond},
		{time.Microsecond, time.Microsecond},
		{60*time.Millisecond - 1, 60 * time.Millisecond},
		{math.MaxInt64 - time.Microsecond, (1<<32 - 1) * time.Microsecond},
	}
	for _, tt := range tests {
		r, err := DecodeRequest(bodyOf(AppendRequest(nil, &session.Request{Op: session.Read, Timeout: tt.sent})))
		if err != nil || r.Timeout != tt.want {
			t.Errorf("%v arrives as %v, error %v; want %v", tt.sent, r.Timeout, err, tt.want)
		}
	}
}

// The codec of operations is on the path of every request: nothing is allocated there.
func TestCodecAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 1<<10)
	if n := testing.AllocsPerRun(1000, func() {
		buf = AppendRequest(buf[:0], &someWrite)
		if _, err := DecodeRequest(bodyOf(buf)); err != nil {
			t.Fatal(err)
		}
		buf = AppendReply(buf[:0], &someReply)
		if _, err := DecodeReply(bodyOf(buf)); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a write and its reply allocate %v times", n)
	}
}

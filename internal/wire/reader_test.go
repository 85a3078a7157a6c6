package wire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/ssmctl/ssmctl/internal/session"
)

// conversation is one frame of each kind, and the kinds in their order.
func conversation() ([]byte, []Kind) {
	frames := AppendHello(nil)
	frames = AppendRequest(frames, &someWrite)
	frames = AppendRequest(frames, &someRead)
	frames = AppendReply(frames, &someReply)
	frames = AppendHeartbeat(frames, &someBeat)
	frames = AppendCommand(frames, someCommand)
	return frames, []Kind{KindHello, KindRequest, KindRequest, KindReply, KindHeartbeat, KindCommand}
}

// expectFrames reads frames up to the orderly end and puts them together again.
func expectFrames(t *testing.T, r *Reader, want []byte, kinds []Kind) {
	t.Helper()
	var got []byte
	for i := 0; ; i++ {
		kind, body, err := r.Next()
		if err == io.EOF { //nolint:errorlint // The orderly end is io.EOF itself, and nothing that wraps it.
			if i != len(kinds) || !bytes.Equal(got, want) {
				t.Fatalf("the end after %d frames and %d bytes, want %d and %d", i, len(got), len(kinds), len(want))
			}
			return
		}
		if err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if i >= len(kinds) || kind != kinds[i] {
			t.Fatalf("frame %d is of kind %d, want %v", i, kind, kinds)
		}
		frame, at := begin(nil, kind)
		got = append(got, end(append(frame, body...), at)...)
	}
}

func TestReaderFramesSplitAnywhere(t *testing.T) {
	stream, kinds := conversation()
	for at := range len(stream) + 1 {
		parts := io.MultiReader(bytes.NewReader(stream[:at]), bytes.NewReader(stream[at:]))
		expectFrames(t, NewReader(parts), stream, kinds)
	}
	expectFrames(t, NewReader(iotest.OneByteReader(bytes.NewReader(stream))), stream, kinds)
	expectFrames(t, NewReader(iotest.DataErrReader(bytes.NewReader(stream))), stream, kinds)
}

func TestReaderOverPipe(t *testing.T) {
	stream, kinds := conversation()
	for at := range len(stream) + 1 {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			for _, part := range [][]byte{stream[:at], stream[at:]} {
				if _, err := there.Write(part); err != nil {
					t.Error(err)
				}
			}
		}()
		expectFrames(t, NewReader(here), stream, kinds)
		here.Close()
	}
}

func TestReaderFramesOfAllSizes(t *testing.T) {
	var stream []byte
	var kinds []Kind
	small := session.Reply{ID: 1, Value: []byte("small")}
	const head = lengthBytes + 1 + 9 // of a reply
	for _, size := range []int{
		readBuffer - head - 1, readBuffer - head, readBuffer - head + 1, 2 * readBuffer, 5 << 20, 0, 3 << 20, readBuffer,
	} {
		large := session.Reply{ID: 2, Value: bytes.Repeat([]byte{byte(size), byte(size >> 8), 1}, size/3+1)[:size]}
		stream = AppendReply(AppendReply(stream, &large), &small)
		kinds = append(kinds, KindReply, KindReply)
	}
	expectFrames(t, NewReader(bytes.NewReader(stream)), stream, kinds)
	expectFrames(t, NewReader(iotest.HalfReader(bytes.NewReader(stream))), stream, kinds)
}

// Between frames the end is orderly. Anywhere else it is not, and must not pass for it.
func TestReaderTruncated(t *testing.T) {
	first := AppendRequest(nil, &someWrite)
	large := AppendReply(nil, &session.Reply{ID: 1, Value: make([]byte, 2*readBuffer)})
	for _, second := range [][]byte{AppendRequest(nil, &someRead), large} {
		for cut := 0; cut < len(second); cut += 1 + cut/64 {
			r := NewReader(bytes.NewReader(append(bytes.Clone(first), second[:cut]...)))
			if _, _, err := r.Next(); err != nil {
				t.Fatalf("the first frame: %v", err)
			}
			_, _, err := r.Next()
			if cut == 0 {
				if err != io.EOF { //nolint:errorlint // As above.
					t.Errorf("the end between frames: %v", err)
				}
				continue
			}
			if !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
				t.Errorf("the end after %d of %d bytes: %v", cut, len(second), err)
			}
		}
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	stream, _ := conversation()
	for _, n := range []int{0, 2, 5, len(stream)} {
		r := NewReader(io.MultiReader(bytes.NewReader(stream[:n]), iotest.ErrReader(broken)))
		var err error
		for err == nil {
			_, _, err = r.Next()
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// allocated returns the bytes that f takes from the heap.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A length alone takes no memory: an impossible one is refused, a possible one is
// believed only as far as bytes follow.
func TestReaderBelievesNoLength(t *testing.T) {
	tests := []struct {
		name    string
		length  uint32
		follows int
		want    error
	}{
		{"nothing", 0, 100, ErrProtocol},
		{"one byte too many", maxFrame + 1, 100, ErrProtocol},
		{"2 GiB", 1 << 31, 100, ErrProtocol},
		{"4 GiB", 1<<32 - 1, 100, ErrProtocol},
		{"text", le.Uint32([]byte("GET ")), 100, ErrProtocol},
		{"the largest, of which little comes", maxFrame, 100, io.ErrUnexpectedEOF},
		{"the largest, of which some comes", maxFrame, 3 * readBuffer, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stream := append(le.AppendUint32(nil, tt.length), make([]byte, tt.follows)...)
			r := NewReader(bytes.NewReader(stream))
			var err error
			took := allocated(func() { _, _, err = r.Next() })
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if took > 1<<20 {
				t.Errorf("%d bytes were allocated for %d that came", took, tt.follows)
			}
		})
	}
}

func TestReaderPending(t *testing.T) {
	stream, kinds := conversation()
	r := NewReader(bytes.NewReader(stream))
	if r.Pending() {
		t.Error("bytes wait before anything is read")
	}
	for i := range kinds {
		if _, _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if more := i+1 < len(kinds); r.Pending() != more {
			t.Errorf("after frame %d of %d: pending %v", i+1, len(kinds), r.Pending())
		}
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	frame := AppendRequest(nil, &someWrite)
	r := NewReader(bytes.NewReader(bytes.Repeat(frame, 1002)))
	if n := testing.AllocsPerRun(1000, func() {
		if _, _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("a frame allocates %v times", n)
	}
}

package wire

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/ssmctl/ssmctl/internal/session"
)

// text appends what is no frame, for those that do not look into frames.
func text(s string) func([]byte) []byte {
	return func(dst []byte) []byte { return append(dst, s...) }
}

// calls keeps each write apart.
type calls struct {
	got []string
	err error
}

func (c *calls) Write(p []byte) (int, error) {
	c.got = append(c.got, string(p))
	return len(p), c.err
}

func mustAppend(t *testing.T, w *Writer, all ...string) {
	t.Helper()
	for _, s := range all {
		if err := w.Append(text(s)); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	}
}

func TestWriterBatchesInOrder(t *testing.T) {
	w := NewWriter()
	mustAppend(t, w, "one ", "two ", "three")
	w.Close()
	var dst calls
	if err := w.Run(&dst); err != nil {
		t.Fatal(err)
	}
	if len(dst.got) != 1 || dst.got[0] != "one two three" {
		t.Errorf("written: %q", dst.got)
	}
}

// gate is a connection that holds every write until it is let through. What is being
// written must stay as it is until then.
type gate struct {
	t       *testing.T
	entered chan string
	leave   chan struct{}
}

func newGate(t *testing.T) *gate { return &gate{t, make(chan string), make(chan struct{})} }

func (g *gate) Write(p []byte) (int, error) {
	before := string(p)
	g.entered <- before
	<-g.leave
	if string(p) != before {
		g.t.Errorf("%q became %q while it was being written", before, p)
	}
	return len(p), nil
}

// running starts Run and returns where its error will come out.
func running(w *Writer, dst io.Writer) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- w.Run(dst) }()
	return ended
}

// What comes while a write is under way waits, and goes out as one.
func TestWriterBatchesBehindASlowPeer(t *testing.T) {
	w, g := NewWriter(), newGate(t)
	ended := running(w, g)
	mustAppend(t, w, "first")
	if got := <-g.entered; got != "first" {
		t.Fatalf("written: %q", got)
	}
	mustAppend(t, w, "a", "b", "c") // does not block
	g.leave <- struct{}{}
	if got := <-g.entered; got != "abc" {
		t.Errorf("written next: %q", got)
	}
	mustAppend(t, w, "d")
	w.Close()
	g.leave <- struct{}{}
	if got := <-g.entered; got != "d" {
		t.Errorf("written after Close: %q", got)
	}
	g.leave <- struct{}{}
	if err := <-ended; err != nil {
		t.Errorf("closed in order: %v", err)
	}
}

func TestWriterCloseWithNothingToDo(t *testing.T) {
	w := NewWriter()
	var dst calls
	ended := running(w, &dst)
	w.Close()
	if err := <-ended; err != nil || len(dst.got) > 0 {
		t.Errorf("error %v, written: %q", err, dst.got)
	}
}

func TestWriterFail(t *testing.T) {
	lost, other := errors.New("lost"), errors.New("other")
	w, g := NewWriter(), newGate(t)
	ended := running(w, g)
	mustAppend(t, w, "under way")
	<-g.entered
	mustAppend(t, w, "never written")
	w.Fail(lost)
	w.Fail(other)
	if err := w.Append(text("too late")); !errors.Is(err, lost) {
		t.Errorf("append after the end: %v, want the first error", err)
	}
	g.leave <- struct{}{}
	if err := <-ended; !errors.Is(err, lost) {
		t.Errorf("Run ends with %v, want the first error", err)
	}
}

func TestWriterFailWhileIdle(t *testing.T) {
	lost := errors.New("lost")
	w := NewWriter()
	ended := running(w, io.Discard)
	w.Fail(lost)
	if err := <-ended; !errors.Is(err, lost) {
		t.Errorf("Run ends with %v", err)
	}
}

func TestWriterEndsWithItsConnection(t *testing.T) {
	w := NewWriter()
	mustAppend(t, w, "a")
	dst := calls{err: io.ErrClosedPipe}
	if err := w.Run(&dst); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run ends with %v", err)
	}
	if err := w.Append(text("b")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("append after the end: %v", err)
	}
}

func TestWriterBacklog(t *testing.T) {
	w := NewWriter()
	grown := make([]byte, DefaultBacklog+maxFrame+1)
	whole := func(n int) func([]byte) []byte { return func([]byte) []byte { return grown[:n] } }
	if err := w.Append(whole(DefaultBacklog + maxFrame)); err != nil {
		t.Fatalf("a full backlog and the largest frame: %v", err)
	}
	if err := w.Append(whole(len(grown))); !errors.Is(err, ErrBacklog) {
		t.Fatalf("one byte more: %v", err)
	}
	var dst calls
	if err := w.Run(&dst); !errors.Is(err, ErrBacklog) || len(dst.got) > 0 {
		t.Errorf("Run ends with %v after %d writes", err, len(dst.got))
	}
}

// Frames of many arrive whole, and those of one in its order.
func TestWriterConcurrentAppend(t *testing.T) {
	const authors, each = 8, 500
	w := NewWriter()
	var dst bytes.Buffer
	ended := running(w, &dst)
	var wg sync.WaitGroup
	for author := range authors {
		wg.Go(func() {
			for i := range each {
				r := session.Reply{ID: uint64(author)<<32 | uint64(i), Value: bytes.Repeat([]byte{byte(i)}, i)}
				if err := w.Append(func(dst []byte) []byte { return AppendReply(dst, &r) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	w.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var next [authors]uint32
	src := NewReader(&dst)
	for range authors * each {
		_, body, err := src.Next()
		if err != nil {
			t.Fatal(err)
		}
		r, err := DecodeReply(body)
		if err != nil {
			t.Fatal(err)
		}
		author, i := r.ID>>32, uint32(r.ID)
		if i != next[author] || !bytes.Equal(r.Value, bytes.Repeat([]byte{byte(i)}, int(i))) {
			t.Fatalf("author %d: frame %d of %d bytes, want frame %d", author, i, len(r.Value), next[author])
		}
		next[author]++
	}
	if _, _, err := src.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last frame: %v", err)
	}
}

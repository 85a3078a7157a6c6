package brick

// Chunk sizes: small for a table that few sessions expire in, large enough that
// a million sessions are a few thousand objects to the garbage collector.
const (
	smallestChunk = 64 << 10
	largestChunk  = 1 << 20
)

// extent is where a state's bytes lie. It holds no pointer, so that the maps of
// extents cost the garbage collector nothing.
type extent struct {
	chunk, offset, size uint32
}

// slab is append-only memory that is freed as a whole.
type slab struct {
	chunks [][]byte
}

// need returns how much memory a value of size bytes would add to the slab.
func (s *slab) need(size int) int {
	if n := len(s.chunks); n > 0 {
		if last := s.chunks[n-1]; cap(last)-len(last) >= size {
			return 0
		}
	}
	next := min(largestChunk, smallestChunk<<min(len(s.chunks), 10))
	return max(next, size)
}

// put copies a value in. The caller brings the chunk when need asked for one.
func (s *slab) put(value, chunk []byte) extent {
	if chunk != nil {
		s.chunks = append(s.chunks, chunk[:0])
	}
	at := len(s.chunks) - 1
	last := s.chunks[at]
	offset := len(last)
	s.chunks[at] = append(last, value...)
	return extent{chunk: uint32(at), offset: uint32(offset), size: uint32(len(value))}
}

// get returns the bytes of an extent; they are the slab's. Of an extent that is damaged there
// may be none.
func (s *slab) get(e extent) (value []byte, there bool) {
	from, to := uint64(e.offset), uint64(e.offset)+uint64(e.size)
	if uint64(e.chunk) >= uint64(len(s.chunks)) || to > uint64(len(s.chunks[e.chunk])) {
		return nil, false
	}
	return s.chunks[e.chunk][from:to:to], true
}

// spare keeps chunks of the largest size for reuse, so that state which comes and
// goes at a steady rate leaves no garbage.
type spare struct{ chunks [][]byte }

func (s *spare) take(size int) []byte {
	if n := len(s.chunks); size == largestChunk && n > 0 {
		c := s.chunks[n-1]
		s.chunks[n-1] = nil
		s.chunks = s.chunks[:n-1]
		return c
	}
	return make([]byte, 0, size)
}

func (s *spare) give(c []byte) {
	if cap(c) == largestChunk {
		s.chunks = append(s.chunks, c)
	}
}

// shed lets chunks go until the rest is no more than room bytes, so that memory in
// use and memory kept for reuse stay under the bound together.
func (s *spare) shed(room int64) {
	for n := len(s.chunks); n > 0 && int64(n)*largestChunk > max(room, largestChunk); n-- {
		s.chunks[n-1] = nil
		s.chunks = s.chunks[:n-1]
	}
}

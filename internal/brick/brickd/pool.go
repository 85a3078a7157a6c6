package brickd

import (
	"math/bits"
	"sync"
)

// pool lends memory for values while they wait, in classes of powers of two.
type pool struct {
	classes [32]sync.Pool
}

func class(size int) int { return bits.Len(uint(max(size, 1) - 1)) }

// copy returns a copy of v in pooled memory.
func (p *pool) copy(v []byte) []byte {
	c := class(len(v))
	if lent, ok := p.classes[c].Get().(*[]byte); ok {
		return append((*lent)[:0], v...)
	}
	return append(make([]byte, 0, 1<<c), v...)
}

// give takes memory back that copy has lent; nil is ignored.
func (p *pool) give(v []byte) {
	if cap(v) > 0 {
		p.classes[class(cap(v))].Put(&v)
	}
}

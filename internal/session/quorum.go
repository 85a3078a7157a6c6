package session

import "fmt"

// Quorum is how many bricks an operation involves. The published setting is
// W=3, WQ=2, R=1.
type Quorum struct {
	W  int // bricks that a write is sent to; at least 1, at most MaxReplicas
	WQ int // acknowledgements that complete it; at least 1, at most W
	R  int // bricks that a read asks at first; at least 1, at most WQ
}

// QuorumError says which of the three numbers cannot be, and what would be.
type QuorumError struct {
	Name string // "w", "wq" or "r"
	Hint string
}

func (e *QuorumError) Error() string { return e.Name + ": " + e.Hint }

// Validate checks the quorum against itself and against a cluster of so many
// bricks; zero bricks means that their number is not known yet. The error is a *QuorumError.
func (q Quorum) Validate(bricks int) error {
	fail := func(name, format string, args ...any) error {
		return &QuorumError{Name: name, Hint: fmt.Sprintf(format, args...)}
	}
	switch {
	case q.W < 1 || q.W > MaxReplicas:
		return fail("w", "%d copies: choose 1 to %d", q.W, MaxReplicas)
	case q.WQ < 1 || q.WQ > q.W:
		return fail("wq", "%d acknowledgements of %d copies: choose 1 to %d", q.WQ, q.W, q.W)
	case q.R < 1 || q.R > q.WQ:
		return fail("r", "%d bricks to read of the %d that a cookie names: choose 1 to %d", q.R, q.WQ, q.WQ)
	case bricks > 0 && q.W > bricks:
		return fail("w", "%d copies need %d bricks, there are %d: lower it or start more bricks", q.W, q.W, bricks)
	}
	return nil
}

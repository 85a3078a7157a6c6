package loadgen

import (
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
)

// Of the reads that an audit has in flight: as many for each brick as are served in a quarter of a
// time-out, so that none times out though chance sends one brick twice as many; at most 16, of
// bricks without costs too.
const (
	auditShare    = 4
	auditMostEach = 16
)

// AuditRoom returns how many reads an audit may have in flight at a time against so many bricks.
func AuditRoom(p *profile.Processor, bricks, size int, timeout time.Duration) int {
	each := auditMostEach
	if cost := p.Mean(true, size); cost > 0 {
		each = max(1, min(each, int(timeout/auditShare/cost)))
	}
	return each * bricks
}

// AuditTurns lets machines read back in turn, one state each, as long as there is room: so
// the oldest states are asked for first, whosever they are.
type AuditTurns struct {
	room int
	left []int // machines that are not done
	next int   // whose turn it is, of those
}

// NewAuditTurns returns the turns of machines that have begun their audits.
func NewAuditTurns(machines, room int) *AuditTurns {
	t := &AuditTurns{room: room}
	for i := range machines {
		t.left = append(t.left, i)
	}
	return t
}

// Step lets machines ask. State and ask are Auditing and StepAudit of a machine. It reports
// whether the audit goes on.
func (t *AuditTurns) Step(state func(machine int) (asking int, more bool), ask func(machine int) bool) bool {
	underWay := 0
	t.left = slices.DeleteFunc(t.left, func(i int) bool {
		asking, more := state(i)
		underWay += asking
		return !more
	})
	for idle := 0; underWay < t.room && idle < len(t.left); t.next++ {
		if ask(t.left[t.next%len(t.left)]) {
			underWay++
			idle = 0
		} else {
			idle++
		}
	}
	return len(t.left) > 0
}

//go:build mutants

package search

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// mutant is a fault that is put into a core on purpose. The old text must stand in the file
// exactly once, so that the table cannot rot.
type mutant struct {
	name     string
	file     string // below internal
	old, new string
	want     Invariant
}

var mutants = []mutant{
	{"quorum one too few", "stub/reply.go", `enough = c.cfg.Quorum.WQ`, `enough = max(1, c.cfg.Quorum.WQ-1)`, Quorum},
	{"late reply counts as ok", "stub/begin.go", `c.calls.open(now + c.cfg.Timeout)`, `c.calls.open(now + 2*c.cfg.Timeout)`, Outcome},
	{"late reply counts for the slot's next call", "stub/call.go", `k.live && k.generation == r.generation`, `k.live`, InFlight},
	{"cookie names a brick that was sent to and has not acknowledged", "stub/reply.go", `AddBrick(c.bricks[brick].id)`, `AddBrick(c.bricks[k.legs[0].brick].id)`, Quorum},
	{"a copy too few", "stub/begin.go", `need := c.cfg.Quorum.W` + "\n", `need := max(c.cfg.Quorum.WQ, c.cfg.Quorum.W-1)` + "\n", Copies},
	{"read asks any brick", "stub/begin.go", `c.withRoom(now, a.Cookie.Bricks(), a.Urgent)`, `c.withRoom(now, nil, a.Urgent)`, Copies},
	{"window off by one", "protect/aimd.go", `float64(inFlight+1) <= w.size`, `float64(inFlight) <= w.size`, Window},
	{"in flight for ever after a time-out", "stub/reply.go", `c.settle(k, leg)` + "\n\t\t\t}\n\t\t}\n\t\tif !k.done", `k.pending--` + "\n\t\t\t}\n\t\t}\n\t\tif !k.done", InFlight},
	{"in flight for ever after a brick's death", "stub/stub.go", `leg != nil && leg.pending`, `leg != nil && leg.pending && k.op == session.Read`, InFlight},
	{"fall-back forgets the time spent", "stub/reply.go", `c.readRequest(r, k, k.deadline-now)`, `c.readRequest(r, k, c.cfg.Timeout)`, Deadline},
	{"no fall-back after a no", "stub/reply.go", `k.op == session.Read && c.askAnother`, `k.op == session.Read && k.noes == 0 && c.askAnother`, Durable},
	{"discard too late", "protect/queue.go", `if waited > timeout {`, `if waited > 2*timeout {`, Deadline},
	{"discard too early", "protect/queue.go", `if waited > timeout {`, `if waited > timeout/2 {`, Discard},
	{"codel serves the dead", "protect/codel.go", `case waited > timeout:`, `case waited > 4*timeout:`, Deadline},
	{"states leave early", "brick/store.go", `max(t.elapses, now+r.TTL)`, `max(t.elapses, now+r.TTL/2)`, Bounds},
	{"states leave late", "brick/store.go", `if now < t.elapses {`, `if now < t.elapses+time.Second {`, Bounds},
	{"states are filed under their key alone", "brick/store.go", `id := name{r.Key, r.Version}`, `id := name{r.Key, 0}`, Durable},
	{"a state's bytes lie elsewhere", "brick/slab.go", `offset: uint32(offset)`, `offset: uint32(offset &^ 31)`, Exact},
	{"inbox without its bound", "brick/queue.go", `q.in.bytes+op.weight() > q.limit`, `q.in.bytes+op.weight() > 2*q.limit`, Bounds},
	{"memory without its bound", "brick/store.go", `if grows > s.room() {`, `if grows > s.room()+s.limit {`, Bounds},
	{"memory that is taken away is used", "brick/damage.go", `s.limit - s.filled - s.bytes`, `s.limit - s.bytes`, Bounds},
	{"a damaged copy is returned", "brick/store.go", `if !there || session.Sum(`, `if !there || r.Key == 0 && session.Sum(`, Exact},
	{"a damaged copy is kept", "brick/store.go", `s.forget(t, asked)`, `_ = asked`, Bounds},
	{"the audit leaves writes out", "loadgen/machine.go", `m.audit.memory.add(now, &d.Cookie, u.sent)`, `if u.version%8 > 0 { m.audit.memory.add(now, &d.Cookie, u.sent) }`, Books},
	{"the audit takes no note of a brick's death", "loadgen/machine.go", `m.audit.lives.gone(now, id)`, `_ = now`, Durable},
	{"two operations at a time", "brick/defect.go", `max(arrived, q.busyTill, q.flaw.held)`, `max(arrived, q.flaw.held)`, Order},
	{"what is dropped is not counted", "brick/queue.go", `q.counts.dropped++`, `_ = op`, Books},
	{"window that never opens again", "protect/aimd.go", `aimdFloor    = 1 `, `aimdFloor    = 0 `, Progress},
	{"stub without a turn", "protect/paced.go", `return since < part`, `return since < part-1`, Progress},
	{"rejected read is given up", "loadgen/user.go", `if outcome == session.Rejected {`, `if outcome == session.Rejected && op == session.Write {`, Turn},
	{"user with two attempts", "loadgen/machine.go", `m.turns.push(due{at: now + max(rest, 1), user: i})`, `m.turns.push(due{at: now + max(rest, 1), user: i}); if d.Outcome == session.Timeout { m.turns.push(due{at: now + 1, user: i}) }`, Turn},
}

// mutantSeeds are about twice those that TestSearch runs, so that a change of what is drawn does
// not at once hide a mutant that few cases meet. A mutant that many meet ends its search early.
const mutantSeeds = 600

// TestMutants proves that the search finds what it is there to find: each mutant breaks the
// invariant that it should.
func TestMutants(t *testing.T) {
	internal, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		if line := fmt.Sprintf("| %s | `%s` | `%s` |\n", m.name, m.file, m.want); !strings.Contains(string(page), line) {
			t.Errorf("docs/simulation.md has no line %s", line)
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			m.run(t, internal, page)
		})
	}
}

var seedBreaks = regexp.MustCompile(`seed \d+ breaks ([a-z-]+): `)

// shownMutant is the one whose first violation the page shows, to say how one is read.
const shownMutant = "window off by one"

func (m *mutant) run(t *testing.T, internal string, page []byte) {
	dir := t.TempDir()
	original := filepath.Join(internal, filepath.FromSlash(m.file))
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("%s: %q stands there %d times: the table needs a text that stands there once", m.file, m.old, n)
	}
	mutated, overlay := filepath.Join(dir, "mutated.go"), filepath.Join(dir, "overlay.json")
	write(t, mutated, strings.Replace(string(text), m.old, m.new, 1))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, overlay, string(replace))

	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-run", "^TestSearch$", "-count", "1", ".")
	cmd.Env = append(os.Environ(), forVariable+"="+string(m.want), seedsVariable+"="+strconv.Itoa(mutantSeeds))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("nothing was found:\n%s", out)
	}
	found := seedBreaks.FindAllStringSubmatch(string(out), -1)
	if m.name == shownMutant && len(found) > 0 && !strings.Contains(string(page), "    "+found[0][0]) {
		t.Errorf("docs/simulation.md shows another violation than the first one, %q: run it again", found[0][0])
	}
	for _, f := range found {
		if Invariant(f[1]) == m.want {
			t.Logf("found: %s", strings.TrimSuffix(f[0], ": "))
			return
		}
	}
	t.Errorf("it should break %s:\n%s", m.want, out)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

package loadgen

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// audited runs a load of 12 users for some time, lets something happen, and audits.
func audited(t *testing.T, load time.Duration, happens func(*world)) (*world, Audit) {
	t.Helper()
	w := newWorld(12, protect.On, nil)
	w.run(load)
	w.stop(t)
	w.sent = nil
	happens(w)
	offered := w.sum(t)
	w.m.BeginAudit()
	for steps := 0; w.m.StepAudit(w.now); steps++ {
		if w.step(w.now + second); steps > 1000 {
			t.Fatal("the audit does not end")
		}
	}
	if after := w.sum(t); after.offered() > 0 {
		t.Errorf("the audit is counted as load: %v, after %v", after.Count, offered.Count)
	}
	return w, w.m.Audit()
}

// each visits every state on every brick.
func (w *world) each(visit func(states map[stateName][]byte, name stateName)) {
	for _, states := range w.states {
		for name := range states {
			visit(states, name)
		}
	}
}

func TestAudit(t *testing.T) {
	tests := []struct {
		name    string
		happens func(*world)
		want    Audit
		sent    int // reads; 0 is any
	}{
		{"nothing", func(*world) {}, Audit{Checked: 12, Found: 12}, 12},
		{"every brick has lost everything", func(w *world) {
			w.each(func(states map[stateName][]byte, name stateName) { delete(states, name) })
		}, Audit{Checked: 12, Lost: 12}, 24},
		{"one brick has lost everything", func(w *world) { clear(w.states[2]) }, Audit{Checked: 12, Found: 12}, 0},
		{"one user's state is lost", func(w *world) {
			last := w.m.users[4].cookie
			w.each(func(states map[stateName][]byte, name stateName) {
				if name.key == last.Key && name.version == last.Version {
					delete(states, name)
				}
			})
		}, Audit{Checked: 12, Found: 11, Lost: 1}, 0},
		{"a bit has flipped everywhere", func(w *world) {
			for _, states := range w.states {
				for name, value := range states {
					flipped := append([]byte(nil), value...)
					flipped[50] ^= 1
					states[name] = flipped
				}
			}
		}, Audit{Checked: 12, Wrong: 12}, 24},
		{"no answer", func(w *world) { w.silent = true }, Audit{Checked: 12, Unknown: 12}, 12 * auditTries},
		{"no brick", func(w *world) {
			for _, id := range w.m.cfg.Stub.Bricks {
				w.m.Down(w.now, id)
			}
		}, Audit{Checked: 12, Unknown: 12}, 0},
		{"all have expired", func(w *world) { w.now += 3 * time.Minute }, Audit{}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, got := audited(t, 5*second, tt.happens)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("audit (-want +got):\n%s", diff)
			}
			if tt.sent > 0 && len(w.sent) != tt.sent {
				t.Errorf("%d reads, want %d", len(w.sent), tt.sent)
			}
		})
	}
}

// A state that may expire before the answer is skipped, as is a user without a state.
func TestAuditSkips(t *testing.T) {
	w, got := audited(t, second, func(w *world) {
		w.now += second - 50*ms
		for i := range w.m.users {
			if i%2 == 0 {
				w.m.users[i].cookie.Expiry = session.Expiry((w.now + 50*ms) / second)
			}
		}
		w.m.users[1].kept = false
	})
	if want := (Audit{Checked: 5, Found: 5}); got != want {
		t.Errorf("audit %+v, want %+v", got, want)
	}
	if len(w.sent) != 5 {
		t.Errorf("%d reads, want 5", len(w.sent))
	}
}

// An answer after some tries is an answer; the next state has tries of its own.
func TestAuditAsksAgain(t *testing.T) {
	w := newWorld(2, protect.Off, nil)
	w.run(second)
	w.stop(t)
	w.m.BeginAudit()
	w.silent = true
	w.sent = nil
	for w.m.StepAudit(w.now) {
		w.step(w.now + second)
		w.silent = len(w.sent)%auditTries != auditTries-1 // only the fifth is answered
	}
	if got := w.m.Audit(); got != (Audit{Checked: 2, Found: 2}) || len(w.sent) != 2*auditTries {
		t.Errorf("audit %+v after %d reads", got, len(w.sent))
	}
}

func TestAuditAdd(t *testing.T) {
	sum := Audit{1, 2, 3, 4, 5}
	sum.Add(Audit{10, 20, 30, 40, 50})
	if want := (Audit{11, 22, 33, 44, 55}); sum != want {
		t.Errorf("sum %+v, want %+v", sum, want)
	}
}

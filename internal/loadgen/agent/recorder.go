package agent

import (
	"sync"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/protect"
)

// recorder shares one recorder between the machines of this process.
type recorder struct {
	mu   sync.Mutex
	core *loadgen.Recorder
}

// use lets f use the recorder alone.
func (r *recorder) use(f func(*loadgen.Recorder)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(r.core)
}

// Attempt implements loadgen.Observer.
func (r *recorder) Attempt(now time.Duration, a loadgen.Attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.core.Attempt(now, a)
}

// Late implements loadgen.Observer.
func (r *recorder) Late(now time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.core.Late(now)
}

// Setting implements loadgen.Observer.
func (r *recorder) Setting(now time.Duration, s protect.Setting, agreed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.core.Setting(now, s, agreed)
}

// Lag implements loadgen.Observer.
func (r *recorder) Lag(now, late time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.core.Lag(now, late)
}

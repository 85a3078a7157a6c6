package profile

import (
	"math/rand/v2"
	"time"
)

// Profile is a system under test.
type Profile struct {
	Name        string    `yaml:"name" json:"name"`
	Description string    `yaml:"description" json:"description"`
	Processor   Processor `yaml:"processor" json:"processor"`
	Network     Network   `yaml:"network" json:"network"`
	Users       Users     `yaml:"users" json:"users"`
	// Sources says of parameters, by their YAML path, where the figure comes from.
	Sources map[string]string `yaml:"sources,omitempty" json:"sources,omitempty"`
}

// The kinds of processor.
const (
	Native   = "native"   // as fast as the machine can; every cost is zero
	Emulated = "emulated" // a single server in virtual finishing times
)

// Processor is the model of one brick's processing loop. Native takes no costs.
type Processor struct {
	Kind string `yaml:"kind" json:"kind"` // Native or Emulated
	// Put and Get are the mean costs of an operation, before its bytes.
	Put time.Duration `yaml:"put,omitempty" json:"put"`
	Get time.Duration `yaml:"get,omitempty" json:"get"`
	// PerKiB is added for every 1024 bytes of the state.
	PerKiB time.Duration `yaml:"per_kib,omitempty" json:"per_kib"`
	// Jitter spreads a cost uniformly over the mean times 1-Jitter to 1+Jitter; 0 to 1.
	Jitter float64 `yaml:"jitter,omitempty" json:"jitter"`
	// Discard is the cost of dropping a dead request, as a share of the cost of serving it; 0 to 1.
	Discard float64 `yaml:"discard,omitempty" json:"discard"`
}

// Network is the wire between stub and brick that loopback does not have.
type Network struct {
	OneWay time.Duration `yaml:"one_way,omitempty" json:"one_way"` // latency each way
}

// Users are the hyperactive users' own times: what passes between the end of one
// attempt and the start of the next.
type Users struct {
	Own        time.Duration `yaml:"own,omitempty" json:"own"`                 // mean, after an answered or timed-out request
	OwnJitter  float64       `yaml:"own_jitter,omitempty" json:"own_jitter"`   // uniform spread, as a share of the mean; 0 to 1
	Pause      time.Duration `yaml:"pause,omitempty" json:"pause"`             // added after a time-out or a broken connection
	Turn       time.Duration `yaml:"turn,omitempty" json:"turn"`               // mean turn-round of an immediate no, in place of Own
	TurnJitter float64       `yaml:"turn_jitter,omitempty" json:"turn_jitter"` // uniform spread of Turn; 0 to 1
	Expiry     time.Duration `yaml:"expiry,omitempty" json:"expiry"`           // life of the states they write; whole seconds, at least 1s
}

// Same reports whether two profiles mean the same system, whatever words they come with.
func (p *Profile) Same(q *Profile) bool {
	return p.Name == q.Name && p.Processor == q.Processor && p.Network == q.Network && p.Users == q.Users
}

// Emulated reports whether the processor has costs of its own.
func (p *Processor) Emulated() bool { return p.Kind == Emulated }

// Mean returns the mean cost of serving an operation on a state of size bytes.
func (p *Processor) Mean(read bool, size int) time.Duration {
	base := p.Put
	if read {
		base = p.Get
	}
	return base + time.Duration(float64(p.PerKiB)*float64(size)/1024)
}

// Spread draws uniformly from mean x (1-jitter) to mean x (1+jitter).
func Spread(rng *rand.Rand, mean time.Duration, jitter float64) time.Duration {
	if jitter == 0 || mean == 0 {
		return mean
	}
	// The inner conversion keeps a processor that can from rounding product and sum as one:
	// a seed means the same on any machine.
	return time.Duration(float64(mean) * (1 + float64(jitter*(2*rng.Float64()-1))))
}

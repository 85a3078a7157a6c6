package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/chaos"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/sim"
)

// Case is one system, its load and what is done to it. It is all that a run depends on,
// and a file holds it as JSON.
type Case struct {
	Seed       uint64   `json:"seed"` // it was drawn from, and feeds all randomness of its run
	Bricks     int      `json:"bricks"`
	Machines   int      `json:"machines"`
	Threads    int      `json:"threads"`
	W          int      `json:"w"`
	WQ         int      `json:"wq"`
	R          int      `json:"r"`
	Timeout    Span     `json:"timeout"`
	Size       int      `json:"size"`           // of a state, in bytes
	Rate       float64  `json:"rate,omitempty"` // attempts per second of an open loop; 0 is a closed one
	Protection string   `json:"protection"`
	Policy     string   `json:"policy"`
	Changes    []Change `json:"changes,omitempty"`
	Faults     []string `json:"faults,omitempty"` // as chaos.Parse reads them
	Warmup     Span     `json:"warmup"`           // whole seconds
	Duration   Span     `json:"duration"`         // whole seconds
	Memory     int64    `json:"memory,omitempty"` // bound of each brick, in bytes; 0 is the usual
	Inbox      int64    `json:"inbox,omitempty"`  // likewise

	Put        Span    `json:"put"` // costs of an operation, its bytes included
	Get        Span    `json:"get"`
	CostJitter float64 `json:"cost_jitter"`
	Discard    float64 `json:"discard"` // cost of a discard, as a share of that of serving
	Own        Span    `json:"own"`     // the users' own times, all with a spread of a half
	Pause      Span    `json:"pause"`
	Turn       Span    `json:"turn"`
	Expiry     Span    `json:"expiry"`

	OneWay        Span    `json:"one_way"`
	NetworkJitter float64 `json:"network_jitter,omitempty"`
	Loss          float64 `json:"loss,omitempty"`
	LinkRate      float64 `json:"link_rate,omitempty"` // bytes per second; 0 is without bound
}

// Change sets the protection in the middle of a run.
type Change struct {
	At         Span   `json:"at"` // since the end of the warm-up
	Protection string `json:"protection"`
}

// Span is a time.Duration that a file holds as text, such as "60ms".
type Span time.Duration

// MarshalText implements encoding.TextMarshaler.
func (s Span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*s = Span(d)
	return err
}

// Read reads a case from its file. What the file holds beside is an error.
func Read(r io.Reader) (Case, error) {
	var c Case
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("not a case: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return c, errors.New("not a case: there is more than one thing in the file")
	}
	if _, err := c.config(); err != nil {
		return c, fmt.Errorf("a case that cannot be: %w", err)
	}
	return c, nil
}

// Write writes the case's file.
func (c *Case) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(c)
}

// config makes the case what the simulator takes, and says what about it cannot be.
func (c *Case) config() (*sim.Config, error) {
	faults, err := chaos.ParseAll(c.Faults)
	if err != nil {
		return nil, err
	}
	cfg := &sim.Config{
		Plan: result.Plan{
			Machines: []int{c.Machines}, Threads: c.Threads, Protection: []string{c.Protection}, Policies: []string{c.Policy},
			Duration: time.Duration(c.Duration), Warmup: time.Duration(c.Warmup), Timeout: time.Duration(c.Timeout),
			W: c.W, WQ: c.WQ, R: c.R, Size: c.Size, Bricks: c.Bricks, Seed: c.Seed, Rate: c.Rate,
		},
		Profile: c.profile(), Run: "search", Faults: faults, Memory: c.Memory, InboxBytes: c.Inbox,
		Network: &sim.Network{OneWay: time.Duration(c.OneWay), Jitter: c.NetworkJitter, Loss: c.Loss, Rate: c.LinkRate},
	}
	for _, change := range c.Changes {
		setting, err := protect.ParseSetting(change.Protection)
		if err != nil {
			return nil, err
		}
		if change.At < 0 || change.At >= c.Duration {
			return nil, fmt.Errorf("changes: at %v: choose 0s to the duration", time.Duration(change.At))
		}
		cfg.Changes = append(cfg.Changes, sim.Change{At: time.Duration(change.At), Protection: setting})
	}
	return cfg, errors.Join(c.check(faults), cfg.Profile.Validate())
}

func (c *Case) profile() profile.Profile {
	const spread = 0.5
	return profile.Profile{
		Name: "search",
		Processor: profile.Processor{
			Kind: profile.Emulated, Put: time.Duration(c.Put), Get: time.Duration(c.Get), Jitter: c.CostJitter, Discard: c.Discard,
		},
		Network: profile.Network{OneWay: time.Duration(c.OneWay)},
		Users: profile.Users{
			Own: time.Duration(c.Own), OwnJitter: spread, Pause: time.Duration(c.Pause),
			Turn: time.Duration(c.Turn), TurnJitter: spread, Expiry: time.Duration(c.Expiry),
		},
	}
}

// check holds the case to what the cores' callers see to.
func (c *Case) check(faults []chaos.Fault) error {
	if err := c.checkNumbers(); err != nil {
		return err
	}
	if err := c.checkBurden(faults); err != nil {
		return err
	}
	if _, err := protect.ParseSetting(c.Protection); err != nil {
		return err
	}
	if _, err := protect.PolicyByName(c.Policy); err != nil {
		return err
	}
	if err := (session.Quorum{W: c.W, WQ: c.WQ, R: c.R}).Validate(c.Bricks); err != nil {
		return err
	}
	return chaos.Check(faults, c.Bricks, time.Duration(c.Duration))
}

// What a replay can bear. Cases that are drawn stay far below.
const (
	mostMachines = 1000
	mostBricks   = 100
	mostUsers    = 10_000
	mostRate     = 10_000      // attempts per second
	mostInFlight = 100_000     // of an open loop
	mostAttempts = 1_000_000   // in all: minutes, and at the very most a gigabyte
	mostBytes    = 1 << 40     // of a bound: the simulator scales it and must not overflow
	slowestLink  = time.Minute // for a message, lest what waits for the link adds up to centuries
)

// attempts is how many there may be, at the most: every user without a wait for answers, or the
// rate of an open loop.
func (c *Case) attempts(users int) float64 {
	seconds := time.Duration(c.Warmup + c.Duration).Seconds()
	if c.Rate > 0 {
		return c.Rate * seconds * float64(users) / float64(c.Machines*c.Threads) // guests bring theirs
	}
	return float64(users) * seconds / (time.Duration(min(c.Own, c.Turn)) / 2).Seconds()
}

// checkBurden holds the case to a size that a replay can bear, once its numbers are sound.
func (c *Case) checkBurden(faults []chaos.Fault) error {
	users := (c.Machines + chaos.Surges(faults)) * c.Threads
	if users > mostUsers {
		return fmt.Errorf("machines, threads: %d users, with those of surges: choose at most %d", users, mostUsers)
	}
	if n := c.attempts(users); n > mostAttempts {
		return fmt.Errorf("rate, or users by their own time or turn, make up to %.3g attempts in %v: choose fewer or a shorter duration, for at most %d",
			n, time.Duration(c.Warmup+c.Duration), mostAttempts)
	}
	return nil
}

// bound reports whether a bound is left out, or has room for one thing that weighs so much.
func bound(bytes, least int64) bool { return bytes == 0 || (bytes >= least && bytes <= mostBytes) }

// checkNumbers looks at each number by itself.
func (c *Case) checkNumbers() error {
	within := func(n, lo, hi float64) bool { return n >= lo && n <= hi }
	seconds := func(s Span, least time.Duration) bool {
		d := time.Duration(s)
		return d >= least && d <= time.Hour && d%time.Second == 0
	}
	state, op := int64(c.Size)+brick.StateOverhead, int64(c.Size)+brick.OpOverhead
	link := math.Ceil(float64(op) / slowestLink.Seconds())
	for _, f := range []struct {
		good bool
		want string
	}{
		{within(float64(c.Bricks), 1, mostBricks), fmt.Sprintf("bricks: choose 1 to %d", mostBricks)},
		{within(float64(c.Machines), 1, mostMachines), fmt.Sprintf("machines: choose 1 to %d", mostMachines)},
		{within(float64(c.Threads), 1, mostUsers), fmt.Sprintf("threads: choose 1 to %d", mostUsers)},
		{seconds(c.Warmup, 0), "warmup: choose whole seconds, up to 1h"},
		{seconds(c.Duration, time.Second), "duration: choose whole seconds, 1s to 1h"},
		{within(float64(c.Timeout), float64(time.Millisecond), float64(time.Minute)), "timeout: choose 1ms to 1m"},
		{within(float64(c.Size), loadgen.MinSize, loadgen.MaxSize), "size: choose 16 to 67108864 bytes"},
		{within(c.Rate, 0, mostRate), fmt.Sprintf("rate: choose 0, or up to %d a second", mostRate)},
		{c.Rate*time.Duration(c.Timeout).Seconds() <= mostInFlight, fmt.Sprintf("rate, timeout: choose less of one, for at most %d in flight", mostInFlight)},
		{bound(c.Memory, state), fmt.Sprintf("memory: choose 0, or %d bytes, which is one state of this size, to %d", state, int64(mostBytes))},
		{bound(c.Inbox, op), fmt.Sprintf("inbox: choose 0, or %d bytes, which is one write of this size, to %d", op, int64(mostBytes))},
		{c.LinkRate == 0 || within(c.LinkRate, link, mostBytes), fmt.Sprintf("link_rate: choose 0, or %.0f bytes a second, which is a state of this size in %v, to %d", link, slowestLink, int64(mostBytes))},
		{within(c.NetworkJitter, 0, 1), "network_jitter: choose 0 to 1"},
		{within(c.Loss, 0, 1), "loss: choose 0 to 1"},
		{min(c.Own, c.Turn) >= Span(time.Millisecond), "own, turn: choose 1ms or more"},
	} {
		if !f.good {
			return errors.New(f.want)
		}
	}
	return nil
}

// point is the one level of the case.
func (c *Case) point() loadgen.Point {
	return loadgen.Point{Machines: c.Machines, Protection: c.Protection, Policy: c.Policy, Seed: c.Seed}
}

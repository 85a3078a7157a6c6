package result

import (
	"encoding/json"
	"math"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// rowJSON is the form of a row in levels.jsonl and in reports: the columns of
// levels.csv under their names, and what a CSV cannot carry.
type rowJSON struct {
	Run        string   `json:"run"`
	Mode       string   `json:"mode"`
	Profile    string   `json:"profile"`
	Policy     string   `json:"policy"`
	Protection string   `json:"protection"`
	Machines   int      `json:"machines"`
	Threads    int      `json:"threads"`
	Users      int      `json:"users"`
	Duration   float64  `json:"duration_s"`
	Offered    float64  `json:"offered_rps"`
	Goodput    float64  `json:"goodput_rps"`
	CI95       float64  `json:"goodput_ci95_rps"`
	Failed     float64  `json:"failed_rps"`
	Timeout    float64  `json:"timeout_rps"`
	Rejected   float64  `json:"rejected_rps"`
	Refused    float64  `json:"refused_rps"`
	Error      float64  `json:"error_rps"`
	WrongRate  float64  `json:"wrong_rps"`
	Late       float64  `json:"late_rps"`
	Wrong      uint64   `json:"wrong_total"`
	Lost       uint64   `json:"lost_total"`
	P50        float64  `json:"p50_ms"`
	P90        float64  `json:"p90_ms"`
	P99        float64  `json:"p99_ms"`
	P999       float64  `json:"p999_ms"`
	Max        float64  `json:"max_ms"`
	Copies     float64  `json:"copies_per_write"`
	Acked      float64  `json:"acked_per_write"`
	Fairness   *float64 `json:"fairness"` // null if there was nothing to share

	Steady       bool     `json:"steady"`
	SteadyWhy    string   `json:"steady_why,omitempty"`
	Generator    bool     `json:"generator_ok"`
	GeneratorWhy string   `json:"generator_why,omitempty"`
	Audit        Audit    `json:"audit,omitzero"`
	LostHosts    []string `json:"lost_hosts,omitempty"`
	Notes        []string `json:"notes,omitempty"`
}

// MarshalJSON writes one flat object: durations in milliseconds, the whole level's
// in seconds, every outcome as a rate.
func (r Row) MarshalJSON() ([]byte, error) {
	var fairness *float64
	if r.FairnessKnown() {
		fairness = &r.Fairness
	}
	return json.Marshal(rowJSON{
		Run: r.Run, Mode: r.Mode, Profile: r.Profile, Policy: r.Policy, Protection: r.Protection,
		Machines: r.Machines, Threads: r.Threads, Users: r.Users, Duration: r.Duration.Seconds(),
		Offered: r.Offered, Goodput: r.Goodput(), CI95: r.GoodputCI95, Failed: r.Failed(),
		Timeout: r.Rates[session.Timeout], Rejected: r.Rates[session.Rejected], Refused: r.Rates[session.Refused],
		Error: r.Rates[session.Error], WrongRate: r.Rates[session.Wrong], Late: r.Late, Wrong: r.Wrong, Lost: r.Lost,
		P50: Millis(r.Latency.P50), P90: Millis(r.Latency.P90), P99: Millis(r.Latency.P99),
		P999: Millis(r.Latency.P999), Max: Millis(r.Latency.Max),
		Copies: r.CopiesPerWrite, Acked: r.AckedPerWrite, Fairness: fairness,
		Steady: r.Steady.OK, SteadyWhy: r.Steady.Why, Generator: r.GeneratorOK.OK, GeneratorWhy: r.GeneratorOK.Why,
		Audit: r.Audit, LostHosts: r.LostHosts, Notes: r.Notes,
	})
}

// UnmarshalJSON is the inverse of MarshalJSON. failed_rps is not read: it follows from the others.
func (r *Row) UnmarshalJSON(src []byte) error {
	var j rowJSON
	if err := json.Unmarshal(src, &j); err != nil {
		return err
	}
	*r = Row{
		Run: j.Run, Mode: j.Mode, Profile: j.Profile, Policy: j.Policy, Protection: j.Protection,
		Machines: j.Machines, Threads: j.Threads, Users: j.Users, Duration: scaled(j.Duration, time.Second),
		Offered: j.Offered, GoodputCI95: j.CI95, Late: j.Late, Wrong: j.Wrong, Lost: j.Lost,
		Latency: Quantiles{
			P50: fromMillis(j.P50), P90: fromMillis(j.P90), P99: fromMillis(j.P99),
			P999: fromMillis(j.P999), Max: fromMillis(j.Max),
		},
		CopiesPerWrite: j.Copies, AckedPerWrite: j.Acked,
		Steady:      Verdict{OK: j.Steady, Why: j.SteadyWhy},
		GeneratorOK: Verdict{OK: j.Generator, Why: j.GeneratorWhy},
		Audit:       j.Audit,
		LostHosts:   j.LostHosts,
		Notes:       j.Notes,
	}
	if j.Fairness != nil {
		r.Fairness = *j.Fairness
	}
	r.Rates = [session.NumOutcomes]float64{
		session.OK: j.Goodput, session.Timeout: j.Timeout, session.Rejected: j.Rejected,
		session.Refused: j.Refused, session.Error: j.Error, session.Wrong: j.WrongRate,
	}
	return nil
}

// Millis returns a duration in milliseconds.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func fromMillis(ms float64) time.Duration { return scaled(ms, time.Millisecond) }

// scaled rounds to the nanosecond, so that a duration survives its decimal form.
func scaled(x float64, unit time.Duration) time.Duration {
	return time.Duration(math.Round(x * float64(unit)))
}

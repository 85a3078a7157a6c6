package result

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/session"
)

func second(n int, protection string, ok, timeout uint64) Second {
	s := Second{Second: n, Machines: 2, Policy: "aimd", Protection: protection, Late: timeout / 2}
	s.Count[session.OK], s.Count[session.Timeout] = ok, timeout
	return s
}

func TestNewRow(t *testing.T) {
	warm := second(-1, "off", 9999, 9999)
	warm.Count[session.Wrong] = 2
	m := Measured{
		Run: "r", Mode: Sim, Profile: "nsdi04", Policy: "aimd", Protection: "on", Machines: 2, Threads: 12,
		Seconds: []Second{
			warm, second(0, "on", 98, 10), second(1, "on", 99, 10), second(2, "on", 100, 10),
			second(3, "on", 101, 10), second(4, "on", 102, 10),
		},
		Latency:        Quantiles{P50: time.Millisecond},
		MachineGoodput: []float64{1, 2},
		Copies:         Copies{Begun: 10, Sent: 30, Writes: 10, Acked: 28},
		Lost:           1,
		Generator:      Verdict{OK: true},
		Notes:          []string{"a note"},
	}
	want := Row{
		Run: "r", Mode: Sim, Profile: "nsdi04", Policy: "aimd", Protection: "on", Machines: 2, Threads: 12, Users: 24,
		Duration: 5 * time.Second, Offered: 110, GoodputCI95: 1.963, Late: 5, Wrong: 2, Lost: 1,
		Latency: m.Latency, CopiesPerWrite: 3, AckedPerWrite: 2.8, Fairness: 0.9,
		Steady: Verdict{OK: true}, GeneratorOK: Verdict{OK: true}, Notes: m.Notes,
	}
	want.Rates[session.OK], want.Rates[session.Timeout] = 100, 10
	got := NewRow(m)
	got.GoodputCI95 = rounded(got.GoodputCI95)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNewRowMixedAndEmpty(t *testing.T) {
	m := Measured{Protection: "on", Machines: 1, Threads: 1}
	if r := NewRow(m); r.Steady.OK || r.Protection != "on" || r.Offered != 0 {
		t.Errorf("no second measured: %+v", r)
	}
	for i := range 6 {
		protection := "on"
		if i > 3 {
			protection = "off"
		}
		m.Seconds = append(m.Seconds, second(i, protection, 100, 0))
	}
	if r := NewRow(m); r.Steady.OK || r.Protection != Mixed {
		t.Errorf("a change of protection: %+v", r)
	}
}

// A row's JSON has every outcome under its name, and gives the row back.
func TestRowJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRow(t)
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Row
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		var flat map[string]any
		if err := json.Unmarshal(text, &flat); err != nil {
			t.Fatal(err)
		}
		for o := session.Timeout; o < session.NumOutcomes; o++ {
			if flat[o.String()+"_rps"] != want.Rates[o] {
				t.Fatalf("%s_rps is %v, want %v", o, flat[o.String()+"_rps"], want.Rates[o])
			}
		}
	})
}

func anyRow(t *rapid.T) Row {
	rate := rapid.Float64Range(0, 1e6)
	latency := rapid.Map(rapid.Int64Range(0, int64(10*time.Minute)), func(n int64) time.Duration { return time.Duration(n) })
	name := rapid.StringMatching(`[a-z0-9]{1,8}`)
	r := Row{
		Run: name.Draw(t, "run"), Mode: rapid.SampledFrom([]string{Live, Sim}).Draw(t, "mode"), Profile: name.Draw(t, "profile"),
		Policy: name.Draw(t, "policy"), Protection: name.Draw(t, "protection"),
		Machines: rapid.IntRange(0, 1000).Draw(t, "machines"), Threads: rapid.IntRange(0, 100).Draw(t, "threads"),
		Duration:    time.Duration(rapid.IntRange(0, 3600).Draw(t, "seconds")) * time.Second,
		GoodputCI95: rate.Draw(t, "ci"), Late: rate.Draw(t, "late"), Wrong: rapid.Uint64().Draw(t, "wrong") >> 12, Lost: 3,
		Latency:        Quantiles{latency.Draw(t, "p50"), latency.Draw(t, "p90"), latency.Draw(t, "p99"), latency.Draw(t, "p999"), latency.Draw(t, "max")},
		CopiesPerWrite: 3, AckedPerWrite: 2.5, Fairness: rapid.Float64Range(0, 1).Draw(t, "fairness"),
		Steady: Verdict{OK: rapid.Bool().Draw(t, "steady")},
	}
	r.Users = r.Machines * r.Threads
	for o := range r.Rates {
		r.Rates[o] = rate.Draw(t, "rate")
		r.Offered += r.Rates[o]
	}
	if !r.FairnessKnown() {
		r.Fairness = 0
	}
	if !r.Steady.OK {
		r.Steady.Why, r.Notes = "drift, \"quoted\"", []string{"a, note"}
	}
	return r
}

package result

import (
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

func TestCondition(t *testing.T) {
	row := Row{Protection: "on", Machines: 14, Latency: Quantiles{P99: 55 * time.Millisecond}, Steady: Verdict{OK: true}}
	row.Rates[session.OK] = 1580
	tests := []struct {
		text string
		want bool
	}{
		{"goodput_rps<1300", false},
		{"goodput_rps > 1300", true},
		{"goodput_rps==1580", true},
		{"goodput_rps!=1580", false},
		{"p99_ms>=55", true},
		{"p99_ms<=54.9", false},
		{"machines<15", true},
		{"on:goodput_rps>1", true},
		{"off:goodput_rps>1", false},
		{"window+codel:goodput_rps>1", false},
		{"steady==1", true},
		{"generator_ok==0", true},
		{"fairness<0.9", false}, // there was nothing to share, or nobody has said
		{"fairness!=1", false},
	}
	for _, tt := range tests {
		c, err := ParseCondition(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got, shown := c.Holds(&row); got != tt.want {
			t.Errorf("%s holds: %v, the row shows %s", tt.text, got, shown)
		}
	}
}

func TestConditionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "write COLUMN", "goodput_rps": "write COLUMN", "speed>1": "no column speed", "run==1": "no column run",
		"goodput_rps<fast": "not a number", "goodput_rps<NaN": "not a number", "maybe:goodput_rps<1": "write COLUMN",
		"windowwcodel:goodput_rps<1": "write COLUMN",
	} {
		if _, err := ParseCondition(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func FuzzCondition(f *testing.F) {
	f.Add("on:goodput_rps<1300")
	f.Fuzz(func(_ *testing.T, text string) {
		if c, err := ParseCondition(text); err == nil {
			c.Holds(&Row{})
		}
	})
}

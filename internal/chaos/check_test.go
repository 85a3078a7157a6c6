package chaos

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		specs  []string
		bricks int
		says   string // empty: nothing is wrong
	}{
		{"none", nil, 3, ""},
		{"all fit", []string{"kill:brick-3@9.999s", "surge:load,machines=34@0s+1h0m0s", "surge:load,machines=3@1s"}, 3, ""},
		{"bricks not known", []string{"kill:brick-900@1s"}, 0, ""},
		{"no such brick", []string{"kill:brick-4@1s"}, 3, "no brick-4: there are 3"},
		{"begins at the end", []string{"kill:brick-1@10s"}, 3, "begins when the level of 10s is over"},
		{"begins after the end", []string{"surge:load,machines=1@1m0s+1s"}, 0, "longer --duration"},
		{"twice", []string{"kill:brick-1@1s", "stall:brick-1@1s+1s", "kill:brick-1@1000ms"}, 3, "given twice"},
		{"too large together", []string{"surge:load,machines=60000@1s", "surge:load,machines=60000@2s"}, 3, "120000 machines together"},
	} {
		faults, err := ParseAll(tt.specs)
		if err != nil {
			t.Fatal(err)
		}
		err = Check(faults, tt.bricks, 10*time.Second)
		if (err == nil) != (tt.says == "") || (err != nil && !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.says)
		}
	}
}

func TestParseAll(t *testing.T) {
	want := []string{"stall:brick-1@1s+1s", "kill:brick-1@2s", "kill:brick-2@2s"}
	for _, specs := range [][]string{{want[2], want[0], want[1]}, {"kill:brick-1@2000ms", want[2], want[0]}} {
		faults, err := ParseAll(specs)
		if err != nil || !slices.Equal(Specs(faults), want) {
			t.Errorf("%v, error %v", faults, err)
		}
	}
	if _, err := ParseAll([]string{want[0], "kill"}); err == nil {
		t.Error("half a specification is taken")
	}
}

// Every scenario can be run as it is, is found by its name, and says what it does.
func TestScenarios(t *testing.T) {
	for _, s := range Scenarios() {
		if err := Check(s.Faults, 0, s.Duration); err != nil || s.Summary == "" || s.Machines == "" || s.Protection == "" {
			t.Errorf("%+v: %v", s, err)
		}
		if got, err := ScenarioByName(s.Name); err != nil || got.Summary != s.Summary {
			t.Errorf("%s is not found: %v", s.Name, err)
		}
	}
	if _, err := ScenarioByName("flood"); err == nil || !strings.Contains(err.Error(), "choose surge") {
		t.Errorf("error %v", err)
	}
}

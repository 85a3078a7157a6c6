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

// Every scenario can be run as it is and on a shorter time scale, is found by its name, and says
// what it does.
func TestScenarios(t *testing.T) {
	for _, s := range Scenarios() {
		for _, scale := range []float64{1, 0.1, 0.01, 3} {
			scaled := s.Scaled(scale)
			if err := Check(scaled.Faults, s.Bricks, scaled.Duration); err != nil {
				t.Errorf("%s, scale %v: %v", s.Name, scale, err)
			}
			if again, err := ParseAll(Specs(scaled.Faults)); err != nil || !slices.Equal(again, scaled.Faults) {
				t.Errorf("%s, scale %v: %v came back as %v, error %v", s.Name, scale, scaled.Faults, again, err)
			}
		}
		if s.Summary == "" || s.Machines == "" || s.Protection == "" || s.Duration%time.Second != 0 {
			t.Errorf("%+v", s)
		}
		if got, err := ScenarioByName(s.Name); err != nil || got.Summary != s.Summary {
			t.Errorf("%s is not found: %v", s.Name, err)
		}
	}
	if _, err := ScenarioByName("flood"); err == nil || !strings.Contains(err.Error(), "choose surge, brick-crash, ") {
		t.Errorf("error %v", err)
	}
}

func TestScaled(t *testing.T) {
	s, err := ScenarioByName("lossy-brick")
	if err != nil {
		t.Fatal(err)
	}
	got := s.Scaled(0.15)
	want := []string{"drop:brick-2,share=0.7@5.25s+1.5s", "kill:brick-2@6.75s+3.75s"}
	if !slices.Equal(Specs(got.Faults), want) || got.Duration != 14*time.Second || got.Timeout != s.Timeout {
		t.Errorf("%v in %v, time-out %v; want %v in 14s", Specs(got.Faults), got.Duration, got.Timeout, want)
	}
	if s.Faults[0].At != 35*time.Second {
		t.Errorf("the scenario itself has changed: %v", s.Faults)
	}
}

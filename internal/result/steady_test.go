package result

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSteady(t *testing.T) {
	level := func(parts ...[]float64) []float64 { return slices.Concat(parts...) }
	flat := func(n int, x float64) []float64 { return ramp(n, x, 0) }
	tests := []struct {
		name   string
		series []float64
		why    string // empty: steady
	}{
		{"nothing", nil, "only 0 s"},
		{"too short", flat(3, 100), "only 3 s"},
		{"flat zeros", flat(120, 0), ""},
		{"flat zeros, 5 s", flat(5, 0), ""},
		{"flat", flat(60, 1900), ""},
		{"flat, 5 s", []float64{1880, 1910, 1895, 1902, 1890}, ""},
		{"a stray success in a collapsed level", level(flat(7, 0), flat(1, 3), flat(12, 0)), ""},
		{"a trifle, however significant", ramp(120, 1900, 0.5), ""},
		{"ramp up", ramp(60, 1000, 10), "drifts by +46 %"},
		{"ramp down, 10 s", ramp(10, 1900, -40), "drifts by -21 %"},
		{"ramp, 5 s", ramp(5, 1000, 100), "drifts by +33 %"},
		{"collapse in mid-level", level(flat(30, 1900), flat(30, 0)), "-"},
		{"collapse in mid-level, 5 s", []float64{1900, 1895, 900, 0, 0}, "-"},
		{"early collapse, 5 s", []float64{1900, 0, 0, 0, 0}, "swings"},
		{"late collapse", level(flat(100, 1900), flat(20, 0)), "swings"},
		{"a dip in the middle", level(flat(25, 1900), flat(10, 0), flat(25, 1900)), "swings"},
		{"recovery", level(flat(5, 0), flat(5, 1900)), "+"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := Steady(tt.series)
			if v.OK != (tt.why == "") || !strings.Contains(v.Why, tt.why) {
				t.Errorf("%+v, want a reason with %q", v, tt.why)
			}
		})
	}
}

// Noise alone must pass, also where neighbouring seconds depend on each other. At small
// rates it is large against the mean, so that strong dependence cannot be told from drift.
func TestSteadyPassesNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{5, 10, 30, 120} {
		for _, mean := range []float64{5, 100, 1000, 2000} {
			for _, phi := range []float64{0, 0.3, 0.6, 0.8} {
				want := 95.0
				if mean < 1000 {
					want = 90
				}
				if mean < 1000 && phi > 0.3 {
					continue
				}
				const trials = 1000
				passed := 0
				for range trials {
					if Steady(noise(rng, n, mean, phi)).OK {
						passed++
					}
				}
				if share := 100 * float64(passed) / trials; share < want {
					t.Errorf("%d s at %.0f/s, phi %.1f: %.1f %% pass, want %.0f", n, mean, phi, share, want)
				}
			}
		}
	}
}

// What is not steady must not hide in noise.
func TestSteadyFailsTrends(t *testing.T) {
	trends := map[string]func(i, n int) float64{
		"ramp by 30 %":           func(i, n int) float64 { return 1 + 0.3*float64(i)/float64(n) },
		"collapse in mid-level":  func(i, n int) float64 { return float64(1 - 2*i/n) },
		"step by 40 %":           func(i, n int) float64 { return 1 - 0.4*float64(2*i/n) },
		"slow death at the last": func(i, n int) float64 { return min(1, 2*float64(n-1-i)/float64(n)) },
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for name, trend := range trends {
		for _, n := range []int{5, 10, 30, 120} {
			const trials = 500
			failed := 0
			for range trials {
				xs := noise(rng, n, 1500, 0.3)
				for i := range xs {
					xs[i] *= max(0, trend(i, n))
				}
				if !Steady(xs).OK {
					failed++
				}
			}
			want := 95.0
			if n == 5 { // t with three degrees of freedom sees less
				want = 80
			}
			if share := 100 * float64(failed) / trials; share < want {
				t.Errorf("%s, %d s: %.1f %% fail, want %.0f", name, n, share, want)
			}
		}
	}
}

// The verdict may not depend on the direction of time, nor crash on anything.
func TestSteadyMirror(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 3000), 0, 200).Draw(t, "series")
		v := Steady(xs)
		slices.Reverse(xs)
		// Batches of unequal length fall differently in a mirrored series.
		if len(xs) < 10 && Steady(xs).OK != v.OK {
			t.Fatalf("forwards %+v, backwards %+v", v, Steady(xs))
		}
		if v.OK != (v.Why == "") {
			t.Fatalf("verdict and reason disagree: %+v", v)
		}
	})
}

package result

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestBatchMeans(t *testing.T) {
	tests := []struct {
		name     string
		series   []float64
		mean, ci float64
	}{
		{"nothing", nil, 0, 0},
		{"one second is a Poisson count", []float64{100}, 100, 19.6},
		{"flat", []float64{7, 7, 7, 7, 7}, 7, 0},
		{"two seconds, t(1) = 12.706", []float64{99, 101}, 100, 12.706},
		{"five seconds, t(4) = 2.776", []float64{98, 99, 100, 101, 102}, 100, 2.776 * math.Sqrt(2.5/5)},
		{"twenty seconds are ten batches, t(9) = 2.262", ramp(20, 0, 1), 9.5, 2.262 * math.Sqrt(110.0/3/10)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mean, ci := BatchMeans(tt.series)
			if math.Abs(mean-tt.mean) > 1e-9 || math.Abs(ci-tt.ci) > 0.001*tt.ci+1e-9 {
				t.Errorf("%v ± %v, want %v ± %v", mean, ci, tt.mean, tt.ci)
			}
		})
	}
}

// A 95 % interval must hold the true mean 95 times in a hundred.
func TestBatchMeansCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 10, 47, 120} {
		const trials = 2000
		held := 0
		for range trials {
			mean, ci := BatchMeans(noise(rng, n, 1500, 0))
			if math.Abs(mean-1500) <= ci {
				held++
			}
		}
		if share := float64(held) / trials; share < 0.93 || share > 0.97 {
			t.Errorf("%d s: the interval holds the mean in %.1f %% of the trials", n, 100*share)
		}
	}
}

func TestBatchesCoverTheSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 2, 300).Draw(t, "series")
		means := batch(xs)
		want := len(xs)
		if len(xs) >= 40 {
			want = 20
		} else if len(xs) >= 10 {
			want = 10
		}
		if len(means) != want {
			t.Fatalf("%d seconds are %d batches, want %d", len(xs), len(means), want)
		}
		// The oracle deals the seconds out one by one.
		sums, counts := make([]float64, want), make([]float64, want)
		b := 0
		for i, x := range xs {
			for (b+1)*len(xs)/want <= i {
				b++
			}
			sums[b] += x
			counts[b]++
		}
		for i := range sums {
			if math.Abs(sums[i]/counts[i]-means[i]) > 1e-6 {
				t.Fatalf("batch %d: %v, want %v", i, means[i], sums[i]/counts[i])
			}
		}
	})
}

func TestJain(t *testing.T) {
	tests := []struct {
		name   string
		shares []float64
		want   float64
	}{
		{"nobody", nil, 0},
		{"nothing", []float64{0, 0}, 0},
		{"even", []float64{3, 3, 3}, 1},
		{"one has all", []float64{0, 8, 0, 0}, 0.25},
		{"two to one", []float64{1, 2}, 0.9},
	}
	for _, tt := range tests {
		if got := Jain(tt.shares); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestJainBoundsAndScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(0.001, 1000), 1, 50).Draw(t, "shares")
		j := Jain(xs)
		if j < 1/float64(len(xs))-1e-9 || j > 1+1e-9 {
			t.Fatalf("%v is outside 1/n..1", j)
		}
		for i := range xs {
			xs[i] *= 7
		}
		if math.Abs(Jain(xs)-j) > 1e-9 {
			t.Fatalf("the unit matters: %v and %v", j, Jain(xs))
		}
	})
}

func ramp(n int, from, step float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = from + float64(i)*step
	}
	return xs
}

// noise is a series with the variance of Poisson counts, whose neighbours correlate by phi.
func noise(rng *rand.Rand, n int, mean, phi float64) []float64 {
	xs := make([]float64, n)
	state := rng.NormFloat64()
	for i := range xs {
		state = phi*state + math.Sqrt(1-phi*phi)*rng.NormFloat64()
		xs[i] = max(0, math.Round(mean+math.Sqrt(mean)*state))
	}
	return xs
}

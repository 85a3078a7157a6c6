package report

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

func TestMatch(t *testing.T) {
	a := curveRows("off", "aimd", []shape{{4, 100, 0, 0}, {4, 200, 0, 0}, {8, 0, 0, 0}, {9, 1, 0, 0}})
	b := curveRows("off", "paced", []shape{{4, 110, 0, 0}, {8, 5, 0, 0}, {4, 240, 0, 0}, {4, 7, 0, 0}})
	pairs, onlyA, onlyB := Match(a, b)
	if len(pairs) != 3 || onlyA != 1 || onlyB != 1 {
		t.Fatalf("%d pairs, %d and %d alone; want 3, 1 and 1", len(pairs), onlyA, onlyB)
	}
	if r := pairs[0].Ratio; math.Abs(r-1.1) > 1e-9 {
		t.Errorf("first of two: ratio %v, want 1.1", r)
	}
	if r := pairs[1].Ratio; math.Abs(r-1.2) > 1e-9 {
		t.Errorf("second of two: ratio %v, want 1.2", r)
	}
	if !math.IsNaN(pairs[2].Ratio) || pairs[2].Differ() {
		t.Errorf("over zero: %+v, want no ratio", pairs[2])
	}
	// With the window in force the policy tells levels apart.
	if pairs, _, _ := Match(curveRows("on", "aimd", aimdShape), curveRows("on", "paced", aimdShape)); len(pairs) != 0 {
		t.Errorf("%d pairs across policies", len(pairs))
	}
}

// The interval of a ratio must hold the true ratio about 95 times in a hundred.
func TestRatioCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	measure := func(mean float64) result.Row {
		const sd = 0.03
		r := result.Row{GoodputCI95: 1.96 * sd * mean}
		r.Rates[session.OK] = mean * (1 + sd*rng.NormFloat64())
		return r
	}
	const trials = 5000
	held := 0
	for range trials {
		a, b := measure(1000), measure(1300)
		if p := pairOf(&a, &b); math.Abs(p.Ratio-1.3) <= p.CI95 {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.94 || share > 0.96 {
		t.Errorf("the interval holds the ratio in %.1f %% of the trials", 100*share)
	}
}

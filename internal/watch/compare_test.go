package watch

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Half of the values lie on either side of the median, and moving fewer than half of them
// anywhere leaves it among the others.
func TestMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 24).Draw(t, "values")
		m := median(slices.Clone(values))
		below, above := 0, 0
		for _, v := range values {
			if v < m {
				below++
			}
			if v > m {
				above++
			}
		}
		if 2*below > len(values) || 2*above > len(values) {
			t.Fatalf("median %v of %v: %d below, %d above", m, values, below, above)
		}
		least, most := slices.Min(values), slices.Max(values)
		wild := slices.Clone(values)
		for i := range rapid.IntRange(0, (len(values)-1)/2).Draw(t, "wild") {
			wild[i] = rapid.SampledFrom([]float64{-1e12, 1e12}).Draw(t, "to")
		}
		if m := median(wild); m < least || m > most {
			t.Fatalf("median %v of %v, which were within %v and %v", m, wild, least, most)
		}
	})
}

// The spread of a normal sample is its standard deviation.
func TestSpread(t *testing.T) {
	s := newStage(0, 1)
	values := make([]float64, 10_000)
	for i := range values {
		values[i] = 50 + 7*s.rng.NormFloat64()
	}
	if got := spread(values, median(slices.Clone(values))); math.Abs(got-7) > 0.2 {
		t.Errorf("spread %v, want 7", got)
	}
}

// Bricks that differ by chance alone raise no alarm, few or many, busy or all but idle. The chance
// is that of independent events; what a real load adds, the simulator's tests have.
func TestChance(t *testing.T) {
	for _, bricks := range []int{3, 4, 6, 8, 24} {
		for _, load := range []float64{0.01, 0.1, 1, 10} {
			s := newStage(bricks, uint64(bricks))
			deviating := 0
			for range 1800 {
				s.play(1, func(int) act {
					return act{reads: 80 * load, writes: 240 * load, drops: 20 * load, inbox: 20 * load, sessions: 2600}
				})
				for _, p := range s.w.bricks {
					deviating += min(1, len(p.evidence))
				}
			}
			if len(s.said) > 0 {
				t.Errorf("%d bricks at load %v: %q", bricks, load, s.said)
			}
			if most := bricks * 1800 / 1000; deviating > most {
				t.Errorf("%d bricks at load %v: %d looks at a brick saw a deviation, want one in a thousand at most", bricks, load, deviating)
			}
		}
	}
}

// One brick that does a third of what the others do is found among any number of them, in less than ten
// looks, and nobody else is blamed for it.
func TestFound(t *testing.T) {
	for bricks := fewest; bricks <= 24; bricks++ {
		for seed := range uint64(5) {
			s := newStage(bricks, seed+1)
			s.play(20, healthy)
			s.play(9, but(bricks, func(a *act) { a.reads = 27 }))
			if len(s.said) != 2 || s.said[1][3:] != fmt.Sprintf("repair %d deviates", bricks) {
				t.Errorf("%d bricks, seed %d: %q", bricks, seed, s.said)
			}
		}
	}
}

// A look goes by the bricks' statistics and by nothing else: their order, and names, do not matter.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const bricks = 7
		does := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
			return act{
				reads: float64(rapid.IntRange(0, 200).Draw(t, "reads")), writes: float64(rapid.IntRange(0, 200).Draw(t, "writes")),
				drops: float64(rapid.IntRange(0, 99).Draw(t, "drops")), inbox: float64(rapid.IntRange(0, 99).Draw(t, "inbox")),
				sessions: rapid.Uint64Range(0, 3000).Draw(t, "sessions"),
			}
		}), bricks, bricks).Draw(t, "does")
		to := rapid.Permutation([]int{1, 2, 3, 4, 5, 6, 7}).Draw(t, "order")
		plain, other := newStage(bricks, 0), newStage(bricks, 0)
		plain.w, other.w = New(false), New(false)
		plain.play(12, func(i int) act { return does[i-1] })
		other.play(12, func(i int) act { return does[slices.Index(to, i)] })
		blamed := func(s *stage, name func(int) int) (all []string) {
			for _, p := range s.w.bricks {
				all = append(all, fmt.Sprint(name(int(p.id)), p.fault(), p.several, p.alone, p.evidence))
			}
			slices.Sort(all)
			return all
		}
		want := blamed(plain, func(i int) int { return to[i-1] })
		if got := blamed(other, func(i int) int { return i }); !slices.Equal(got, want) {
			t.Fatalf("%q, and in another order %q", want, got)
		}
	})
}

package result

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// What Steady tolerates. A difference must be both significant and of practical size
// to fail a level: long levels make trifles significant, short ones make noise large.
const (
	steadyAlpha = 0.01 // significance, two-sided, of the slope and of the halves
	steadySize  = 0.10 // of the mean: drift across the level, or between its halves
	grossSize   = 0.50 // of the mean: a batch this far off needs no t-test
	grossSigmas = 4.0  // beyond Poisson noise: 20 batches exceed it once in 800 levels
	minSeconds  = 4    // two in each half
)

// Steady judges whether a per-second series of counts is level. It fails a series
// in which the regression line drifts by a tenth of the mean across the level, or the
// halves differ by as much, each significantly (t-test at 1 %, widened for the dependence of
// neighbouring seconds); or of which any batch (see BatchMeans) lies half of the mean
// off, beyond the noise of counting. A series of zeros is steady; one below 4 s is not: nothing
// can be told from it.
func Steady(perSecond []float64) Verdict {
	n := len(perSecond)
	if n < minSeconds {
		return Verdict{Why: fmt.Sprintf("only %d s measured, %d are needed to tell", n, minSeconds)}
	}
	mean := stat.Mean(perSecond, nil)
	if mean == 0 {
		return Verdict{OK: true}
	}
	if drift, p := slope(perSecond); p < steadyAlpha && math.Abs(drift) >= steadySize*mean {
		return Verdict{Why: fmt.Sprintf("goodput drifts by %+.0f %% of its mean across the level", 100*drift/mean)}
	}
	if diff, p := halves(perSecond); p < steadyAlpha && math.Abs(diff) >= steadySize*mean {
		return Verdict{Why: fmt.Sprintf("the second half's goodput differs by %+.0f %% of the mean from the first's", 100*diff/mean)}
	}
	if i, b, ok := swing(perSecond, mean); ok {
		return Verdict{Why: fmt.Sprintf("goodput swings: second %d is at %.0f/s, the mean at %.0f/s", i, b, mean)}
	}
	return Verdict{OK: true}
}

// slope fits a line and returns its rise from the first second to the last, with
// the probability of one as steep by chance.
func slope(ys []float64) (drift, p float64) {
	n := len(ys)
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = float64(i)
	}
	alpha, beta := stat.LinearRegression(xs, ys, nil, false)
	residuals := make([]float64, n)
	for i, y := range ys {
		residuals[i] = y - alpha - beta*xs[i]
	}
	spread := math.Sqrt(squares(residuals) / float64(n-2))
	se := spread / math.Sqrt(float64(n-1)*stat.Variance(xs, nil))
	return beta * float64(n-1), tTest(beta, se*widening(residuals), float64(n-2), alpha)
}

// halves returns the second half's mean less the first's, with the probability of
// such a difference by chance. The middle second of an odd number belongs to neither.
func halves(ys []float64) (diff, p float64) {
	h := len(ys) / 2
	first, second := ys[:h], ys[len(ys)-h:]
	m1, m2 := stat.Mean(first, nil), stat.Mean(second, nil)
	residuals := make([]float64, 0, 2*h)
	for i := range first {
		residuals = append(residuals, first[i]-m1)
	}
	for i := range second {
		residuals = append(residuals, second[i]-m2)
	}
	dof := float64(2*h - 2)
	se := math.Sqrt(squares(residuals) / dof * 2 / float64(h))
	return m2 - m1, tTest(m2-m1, se*widening(residuals), dof, m1)
}

// swing finds the first batch that lies far from the mean, and the second it starts at.
func swing(ys []float64, mean float64) (second int, at float64, found bool) {
	batches := batch(ys)
	length := float64(len(ys)) / float64(len(batches))
	residuals := make([]float64, len(ys))
	for i, y := range ys {
		residuals[i] = y - mean
	}
	// At least one count of noise: a stray success in a collapsed level is no swing.
	noise := math.Sqrt(max(1, mean*length)) / length * widening(residuals)
	for i, b := range batches {
		if off := math.Abs(b - mean); off >= grossSize*mean && off > grossSigmas*noise {
			return i * len(ys) / len(batches), b, true
		}
	}
	return 0, 0, false
}

// tTest returns the two-sided probability of an estimate so far from zero. Where the
// data have no spread, any difference above rounding (of the scale) is certain.
func tTest(estimate, se, dof, scale float64) float64 {
	if tiny := 1e-9 * math.Abs(scale); se <= tiny {
		if math.Abs(estimate) <= tiny {
			return 1
		}
		return 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: dof}
	return 2 * t.CDF(-math.Abs(estimate/se))
}

// widening is the factor by which a standard error grows when residuals follow an
// AR(1) process of their own lag-1 correlation r: the root of (1+r)/(1-r). It never
// shrinks one: an estimate from few seconds is not to be trusted that far.
func widening(residuals []float64) float64 {
	var lagged float64
	for i := 1; i < len(residuals); i++ {
		lagged += residuals[i] * residuals[i-1]
	}
	total := squares(residuals)
	if total == 0 || lagged <= 0 {
		return 1
	}
	r := lagged / total // below 1: the sum of products never exceeds that of squares
	return math.Sqrt((1 + r) / (1 - r))
}

func squares(xs []float64) float64 {
	var sum float64
	for _, x := range xs {
		sum += x * x
	}
	return sum
}

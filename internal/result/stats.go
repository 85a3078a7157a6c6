package result

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Batch counts of BatchMeans. Ten to twenty batches are the usual compromise (Law,
// Simulation Modeling and Analysis, section 9.5.3): fewer make the interval wide, more
// make the batches short and so dependent on each other.
const (
	manyBatches = 20 // for levels of at least two seconds a batch
	fewBatches  = 10 // for levels of at least one second a batch
)

// BatchMeans returns the mean of a per-second series and the half-width of its 95 %
// confidence interval, by non-overlapping batch means and Student's t.
//
// A level of 40 s or more is cut into 20 batches, one of 10 s or more into 10, a
// shorter one into its seconds, so its interval is wide, and too narrow only where
// neighbouring seconds depend on each other. One second alone has no spread: its interval
// is that of a Poisson count, 1.96 times its root. No second at all gives 0 and 0.
func BatchMeans(perSecond []float64) (mean, ci95 float64) {
	switch len(perSecond) {
	case 0:
		return 0, 0
	case 1:
		return perSecond[0], distuv.UnitNormal.Quantile(0.975) * math.Sqrt(math.Abs(perSecond[0]))
	}
	batches := batch(perSecond)
	k := float64(len(batches))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 1}.Quantile(0.975)
	return stat.Mean(perSecond, nil), t * stat.StdDev(batches, nil) / math.Sqrt(k)
}

// batch returns the means of the batches. Their lengths differ by one at most.
func batch(perSecond []float64) []float64 {
	n := len(perSecond)
	k := n
	if n >= 2*manyBatches {
		k = manyBatches
	} else if n >= fewBatches {
		k = fewBatches
	}
	means := make([]float64, k)
	for i := range means {
		means[i] = stat.Mean(perSecond[i*n/k:(i+1)*n/k], nil)
	}
	return means
}

// Jain returns Jain's fairness index of non-negative shares (Jain, Chiu and Hawe, DEC TR-301,
// 1984): 1 if all are equal, 1/n if one has everything, 0 if there is nobody or nothing to share.
func Jain(shares []float64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(shares)) * squares)
}

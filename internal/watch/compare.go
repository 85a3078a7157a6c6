package watch

import (
	"math"
	"slices"
)

// normal scales a median absolute deviation to the standard deviation of a normal
// distribution.
const normal = 1.4826

// compare finds what deviates, brick by brick.
func compare(bricks []*patient) {
	for _, p := range bricks {
		p.evidence = nil
	}
	if len(bricks) < fewest {
		return
	}
	held := make([]float64, len(bricks)) // elements, as a share of the median, 1 at most
	for i := range held {
		held[i] = 1
	}
	for k := range measures {
		m := &measures[k]
		all := valuesOf(bricks, m, window)
		now := valuesOf(bricks, m, 1)
		for i, p := range bricks {
			share := 1.0
			switch {
			case m.name == Elements && all.center > 0:
				held[i] = min(1, all.each[i]/all.center)
			case m.name == Reads: // who holds less is asked for less, such as one that was empty lately
				share = held[i]
			}
			wide := max(all.spread, m.floor(all.center, p.over()))
			away := all.away(i, share)
			// What is over is not held against it: the last look must show at least half of it.
			if ends := now.away(i, share); ends*away > 0 && 2*math.Abs(ends) >= math.Abs(away) {
				p.weigh(m, Deviation{m.name, all.each[i], all.center, away / wide})
			}
		}
	}
}

// values are those of one measure.
type values struct {
	each           []float64 // of the bricks, in their order
	center, spread float64
}

func valuesOf(bricks []*patient, m *measure, looks int) values {
	v := values{each: make([]float64, len(bricks))}
	for i, p := range bricks {
		v.each[i] = p.value(m, looks)
	}
	v.center = median(slices.Clone(v.each))
	v.spread = spread(v.each, v.center)
	return v
}

// away is how far a value is from what is expected, a share of the median.
func (v *values) away(i int, share float64) float64 { return v.each[i] - float64(v.center*share) }

// weigh keeps a deviation that is a sign of a fault.
func (p *patient) weigh(m *measure, d Deviation) {
	if (d.Spreads < -anomalous && m.bad != above) || (d.Spreads > anomalous && m.bad != below) {
		p.evidence = append(p.evidence, d)
	}
}

// median of values that it may put in order; there must be one.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// spread is the median absolute deviation of values, scaled to a standard deviation.
// Up to half of the values may be anything and move it little.
func spread(values []float64, center float64) float64 {
	away := make([]float64, len(values))
	for i, v := range values {
		away[i] = max(v-center, center-v)
	}
	return normal * median(away)
}

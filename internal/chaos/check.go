package chaos

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// ParseAll reads specifications and returns their faults in order of time, so that the
// order in which they were given does not matter.
func ParseAll(specs []string) ([]Fault, error) {
	var faults []Fault
	for _, spec := range specs {
		f, err := Parse(spec)
		if err != nil {
			return nil, err
		}
		faults = append(faults, f)
	}
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.String(), b.String()))
	})
	return faults, nil
}

// Specs is the inverse of ParseAll.
func Specs(faults []Fault) []string {
	specs := make([]string, len(faults))
	for i, f := range faults {
		specs[i] = f.String()
	}
	return specs
}

// Check says which fault cannot be in a level that measures for duration, and why. The
// number of bricks is 0 where it is not known yet.
func Check(faults []Fault, bricks int, duration time.Duration) error {
	for i, f := range faults {
		switch {
		case bricks > 0 && int(f.Brick) > bricks:
			return fmt.Errorf("%q: no brick-%d: there are %d, brick-1 to brick-%d", f, f.Brick, bricks, bricks)
		case f.At >= duration:
			return fmt.Errorf("%q: it begins when the level of %v is over: choose an earlier begin, or a longer --duration", f, duration)
		case slices.Contains(faults[:i], f):
			return fmt.Errorf("%q is given twice: once is enough", f)
		}
	}
	if n := Surges(faults); n > maxSurge {
		return fmt.Errorf("the surges bring %d machines together: choose %d at most", n, maxSurge)
	}
	return nil
}

// Surges returns how many machines the surges among the faults bring, all together.
func Surges(faults []Fault) (machines int) {
	for _, f := range faults {
		machines += f.Machines
	}
	return machines
}

package loadgen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ssmctl/ssmctl/internal/result"
)

// MaxMachines bounds a level.
const MaxMachines = 100_000

// maxLevels bounds a plan's levels.
const maxLevels = 10_000

// ParseLevels reads LEVELS: "24", "1,2,4", "1-37" or "1-37:4" (in steps of 4), also
// mixed. The levels are returned in the order given, which must rise.
func ParseLevels(s string) ([]int, error) {
	var levels []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, step, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("%q: %w: write 24, 1,2,4, 1-37 or 1-37:4", s, err)
		}
		if len(levels)+(to-from)/step >= maxLevels {
			return nil, fmt.Errorf("%q: more than %d levels: take larger steps", s, maxLevels)
		}
		for n := from; n <= to; n += step {
			levels = append(levels, n)
		}
	}
	for i := 1; i < len(levels); i++ {
		if levels[i] <= levels[i-1] {
			return nil, fmt.Errorf("%q: %d comes after %d: levels must rise", s, levels[i], levels[i-1])
		}
	}
	return levels, nil
}

func parseRange(s string) (from, to, step int, err error) {
	span, stepText, stepped := strings.Cut(s, ":")
	first, last, ranged := strings.Cut(span, "-")
	if stepped && !ranged {
		return 0, 0, 0, fmt.Errorf("%q is a step without a range", s)
	}
	if from, err = machines(first); err != nil {
		return 0, 0, 0, err
	}
	to, step = from, 1
	if ranged {
		if to, err = machines(last); err != nil {
			return 0, 0, 0, err
		}
	}
	if stepped {
		if step, err = machines(stepText); err != nil {
			return 0, 0, 0, err
		}
	}
	if to < from {
		return 0, 0, 0, fmt.Errorf("%q ends before it begins", s)
	}
	return from, to, step, nil
}

func machines(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > MaxMachines || s[0] == '+' {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", s, MaxMachines)
	}
	return n, nil
}

// Point is one level of a plan under one setting: what becomes one row.
type Point struct {
	Index      int // in the plan, from 0
	Machines   int
	Protection string // empty: as found
	Policy     string
	Seed       uint64 // the same for all points of a level, so that they differ in nothing else
}

// Points are all levels of a plan under all its settings, in the order measured.
func Points(p *result.Plan) []Point {
	var points []Point
	for i, l := range p.Unfold() {
		points = append(points, Point{
			Index: i, Machines: l.Machines, Protection: l.Protection, Policy: l.Policy, Seed: mix(p.Seed ^ uint64(l.Machines)),
		})
	}
	return points
}

package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

// missing stands where there is no figure.
const missing = "-"

// notReached stands for a mark that no level measured reached.
const notReached = "not reached"

// rate shows a rate as people read it: whole numbers, and one decimal below ten.
func rate(x float64) string {
	if x != 0 && math.Abs(x) < 9.95 {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

func decimal(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }

// latency shows milliseconds, or nothing where nothing was recorded.
func latency(d time.Duration) string {
	if d == 0 {
		return missing
	}
	return decimal(result.Millis(d), 1)
}

func either(ok bool, yes string) string {
	if ok {
		return yes
	}
	return "no"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// size shows a size in the largest unit that divides it.
func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// duration shows one without the zero units that String appends.
func duration(d time.Duration) string {
	if d >= time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	if d >= time.Second {
		return decimal(d.Seconds(), -1) + " s"
	}
	return decimal(result.Millis(d), -1) + " ms"
}

// describe says in one line how a run was made.
func describe(r *result.Run) string {
	m, p := &r.Manifest, &r.Manifest.Plan
	policies := "policy"
	if len(p.Policies) > 1 {
		policies = "policies"
	}
	s := fmt.Sprintf("%s: %s, profile %s (%s), %s %s, %s, W/WQ/R %d/%d/%d, %s states, time-out %s, %s a level",
		m.Run, m.Mode, m.Profile.Name, m.Profile.Processor.Kind, policies, list(p.Policies), plural(p.Bricks, "brick"),
		p.W, p.WQ, p.R, size(p.Size), duration(p.Timeout), duration(p.Duration))
	if p.Rate > 0 {
		s += fmt.Sprintf(", open loop at %s/s", rate(p.Rate))
	}
	s += describeFaults(p)
	if r.State != result.Complete {
		s += ", " + string(r.State)
	}
	return s
}

// list joins words as a sentence does.
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return missing
	case 1:
		return words[0]
	default:
		s := words[0]
		for _, w := range words[1 : n-1] {
			s += ", " + w
		}
		return s + " and " + words[n-1]
	}
}

// windowed reports whether the policy matters under a protection setting.
func windowed(protection string) bool { return protect.Windowed(protection) }

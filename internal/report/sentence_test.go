package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/result"
)

func TestSentence(t *testing.T) {
	off := curveRows("off", "aimd", pick(offShape, 4, 14, 24))
	on := curveRows("on", "aimd", pick(aimdShape, 4, 14, 24))
	paced := curveRows("on", "paced", pick(pacedShape, 4, 14, 24))
	weak := slices.Clone(on)
	weak[1].Steady.OK = false
	mixed := slices.Clone(off)
	mixed[0].Protection = result.Mixed
	allMixed := slices.Clone(off)
	for i := range allMixed {
		allMixed[i].Protection = result.Mixed
	}
	curve := func(protection string, shapes ...shape) []result.Row { return curveRows(protection, "aimd", shapes) }
	tests := []struct {
		name string
		rows []result.Row
		want string
	}{
		{"nothing", nil, "Nothing was measured."},
		{"off and on", interleave(off, on), "Without protection goodput collapses from 1478/s at 4 machines to 0 at 14; with it, 14 machines still get 1590/s and 24 get 1047/s."},
		{"policies", interleave(off, on, paced), "Without protection goodput collapses from 1478/s at 4 machines to 0 at 14; with aimd, 14 machines still get 1590/s and 24 get 1047/s; with paced, 14 machines still get 1900/s and 24 get 1898/s."},
		{"off twice", interleave(off, curveRows("off", "paced", pick(offShape, 4, 14, 24))), "Without protection goodput collapses from 1478/s at 4 machines to 0 at 14."},
		{"only on", on, "With protection (aimd) goodput sags from 1590/s at 14 machines to 1047/s at 24."},
		{"one level", off[:1], "Without protection goodput is 1478/s at 4 machines."},
		{"one machine", curve("on", shape{1, 400, 0, 0}), "With protection (aimd) goodput is 400/s at 1 machine."},
		{"no collapse", interleave(off[:1], on[:1]), "Without protection goodput is 1478/s at 4 machines; with it goodput is 1482/s at 4 machines."},
		{"rising", curve("off", shape{1, 400, 0, 0}, shape{8, 1881, 0, 0}), "Without protection goodput rises from 400/s at 1 machine to 1881/s at 8."},
		{"holding", curve("on", shape{8, 1898, 0, 0}, shape{14, 1900, 0, 0}, shape{37, 1890, 0, 0}), "With protection (aimd) goodput peaks with 1900/s at 14 machines and is still 1890/s at 37."},
		{"as good at the end", curve("on", shape{8, 1898, 0, 0}, shape{37, 1900, 0, 0}), "With protection (aimd) goodput is 1898/s at 8 machines and 1900/s at 37."},
		{"half but not zero", curve("on", shape{8, 1900, 0, 0}, shape{37, 300, 0, 0}), "With protection (aimd) goodput falls from 1900/s at 8 machines to 300/s at 37."},
		{"sagging", curve("on", shape{8, 1900, 0, 0}, shape{37, 1500, 0, 0}), "With protection (aimd) goodput sags from 1900/s at 8 machines to 1500/s at 37."},
		{"recovering", curve("off", shape{8, 1900, 0, 0}, shape{13, 0, 0, 0}, shape{14, 1000, 0, 0}), "Without protection goodput collapses from 1900/s at 8 machines to 0 at 13 and is back at 1000/s at 14."},
		{"all dead", curve("off", shape{13, 0, 0, 0}, shape{14, 0, 0, 0}), "Without protection goodput is 0 at all levels from 13 to 14 machines."},
		{"other loads protected", slices.Concat(off, curve("on", shape{30, 700, 0, 0})), "Without protection goodput collapses from 1478/s at 4 machines to 0 at 14; with it goodput is 700/s at 30 machines."},
		{"protection of no use", slices.Concat(off, curve("on", shape{14, 7.25, 0, 0})), "Without protection goodput collapses from 1478/s at 4 machines to 0 at 14; with it, 14 machines get 7.2/s."},
		{"halves", slices.Concat(off, curve("window", shape{14, 900, 0, 0}), curve("discard", shape{14, 800, 0, 0})), "Without protection goodput collapses from 1478/s at 4 machines to 0 at 14; with the window alone, 14 machines still get 900/s; with the discard alone, 14 machines still get 800/s."},
		{"queue rules", slices.Concat(off, curve("codel", shape{14, 900, 0, 0}), curve("window+codel", shape{14, 800, 0, 0})), "Without protection goodput collapses from 1478/s at 4 machines to 0 at 14; with codel alone, 14 machines still get 900/s; with the window and codel, 14 machines still get 800/s."},
		{"queue rules and policies", slices.Concat(curveRows("window+codel", "aimd", []shape{{14, 900, 0, 0}}), curveRows("on", "paced", []shape{{14, 1898, 0, 0}})), "With the window of aimd and codel goodput is 900/s at 14 machines; with paced goodput is 1898/s at 14 machines."},
		{"weak", weak[:2], "With protection (aimd) goodput rises from 1482/s at 4 machines to 1590/s at 14; weak: 1 of 2 levels, see the notes."},
		{"mixed among others", mixed[:2], "Without protection goodput is 0 at 14 machines; left out, as the protection changed within: 1 level."},
		{"one weak", weak[1:2], "With protection (aimd) goodput is 1590/s at 14 machines; weak: 1 of 1 level, see the notes."},
		{"dead at one load", curve("off", shape{1, 0, 0, 0}, shape{1, 0, 0, 0}), "Without protection goodput is 0 at all levels of 1 machine."},
		{"one mixed", allMixed[:1], "The protection changed within the one level, so there is no curve: goodput is 1478/s."},
		{"mixed and equal", allMixed[1:], "The protection changed within every level, so there is no curve: goodput is 0."},
		{"mixed only", allMixed, "The protection changed within every level, so there is no curve: goodput lies between 0 and 1478/s."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sentence(tt.rows); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

var claim = regexp.MustCompile(`([\d.]+)(?:/s)? at (\d+)`)

// Every "so much at so many machines" must be that of a row.
func TestSentenceClaimsOnlyWhatWasMeasured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) result.Row {
			protection := rapid.SampledFrom(append(protect.SettingNames(), result.Mixed)).Draw(t, "protection")
			policy := rapid.SampledFrom([]string{"aimd", "paced"}).Draw(t, "policy")
			s := shape{rapid.IntRange(1, 9).Draw(t, "machines"), rapid.SampledFrom([]float64{0, 3, 40, 500, 980, 1000}).Draw(t, "goodput"), 5, 0}
			return curveRows(protection, policy, []shape{s})[0]
		}), 1, 12).Draw(t, "rows")
		s := Sentence(rows)
		measured := make(map[string]bool)
		for i := range rows {
			measured[short(&rows[i])] = true
		}
		for _, m := range claim.FindAllString(s, -1) {
			if !measured[m] {
				t.Fatalf("%q was not measured, in: %s", m, s)
			}
		}
		if strings.Count(s, ".") != 1+strings.Count(s, ".0/s") {
			t.Fatalf("not one sentence: %s", s)
		}
	})
}

package loadgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/result"
)

func TestParseLevels(t *testing.T) {
	upTo37 := make([]int, 37)
	for i := range upTo37 {
		upTo37[i] = i + 1
	}
	tests := []struct {
		s    string
		want []int
	}{
		{"24", []int{24}},
		{"1,2,4", []int{1, 2, 4}},
		{" 1 , 2 ", []int{1, 2}},
		{"1-37", upTo37},
		{"1-37:4", []int{1, 5, 9, 13, 17, 21, 25, 29, 33, 37}},
		{"1-10:4", []int{1, 5, 9}},
		{"7-7", []int{7}},
		{"7-9:100", []int{7}},
		{"1,4-6,8-14:3,100000", []int{1, 4, 5, 6, 8, 11, 14, 100_000}},
	}
	for _, tt := range tests {
		got, err := ParseLevels(tt.s)
		if err != nil {
			t.Errorf("%q: %v", tt.s, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.s, diff)
		}
	}
}

func TestParseLevelsErrors(t *testing.T) {
	tests := []struct{ s, says string }{
		{"", "not a number"},
		{"0", "not a number from 1"},
		{"-1", "not a number"},
		{"+1", "not a number"},
		{"1.5", "not a number"},
		{"x", "not a number"},
		{"1,", "not a number"},
		{"1--3", "not a number"},
		{"1-", "not a number"},
		{"1-3:0", "not a number"},
		{"1-3:", "not a number"},
		{"3:2", "step without a range"},
		{"5-3", "ends before it begins"},
		{"2,1", "must rise"},
		{"2,2", "must rise"},
		{"1-5,5", "must rise"},
		{"100001", "not a number from 1 to 100000"},
		{"99999999999999999999", "not a number"},
		{"1-100000", "take larger steps"},
		{"1-9999,10000,10001", "take larger steps"},
	}
	for _, tt := range tests {
		levels, err := ParseLevels(tt.s)
		if err == nil || levels != nil {
			t.Errorf("%q: levels %v, error %v", tt.s, levels, err)
			continue
		}
		if !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), fmt.Sprintf("%q", tt.s)) {
			t.Errorf("%q: error %q does not say %q", tt.s, err, tt.says)
		}
	}
}

func FuzzLevels(f *testing.F) {
	for _, s := range []string{"24", "1,2,4", "1-37", "1-37:4", "1, 4-6 ,8-14:3", "5-3", "1-100000:7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		levels, err := ParseLevels(s)
		if err != nil {
			return
		}
		if len(levels) == 0 || len(levels) > maxLevels || levels[0] < 1 || levels[len(levels)-1] > MaxMachines || !slices.IsSorted(levels) {
			t.Fatalf("%q: levels %v", s, levels)
		}
		again, err := ParseLevels(strings.Trim(strings.Join(strings.Fields(fmt.Sprint(levels)), ","), "[]"))
		if err != nil || !slices.Equal(again, levels) {
			t.Fatalf("%q: levels %v came back as %v, error %v", s, levels, again, err)
		}
	})
}

func TestPoints(t *testing.T) {
	tests := []struct {
		name                 string
		protection, policies []string
		want                 string // machines/protection/policy
	}{
		{"as found", nil, []string{"aimd"}, "1//aimd 5//aimd"},
		{"as found, so the window may be on", nil, []string{"aimd", "paced"}, "1//aimd 1//paced 5//aimd 5//paced"},
		{"interleaved", []string{"off", "on"}, []string{"aimd"}, "1/off/aimd 1/on/aimd 5/off/aimd 5/on/aimd"},
		{
			"policies only where there is a window",
			[]string{"off", "discard", "window", "on"},
			[]string{"aimd", "paced"},
			"1/off/aimd 1/discard/aimd 1/window/aimd 1/window/paced 1/on/aimd 1/on/paced " +
				"5/off/aimd 5/discard/aimd 5/window/aimd 5/window/paced 5/on/aimd 5/on/paced",
		},
		{
			"whatever the queue rule",
			[]string{"codel", "window+codel"},
			[]string{"off", "aimd"},
			"1/codel/off 1/window+codel/off 1/window+codel/aimd 5/codel/off 5/window+codel/off 5/window+codel/aimd",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &result.Plan{Machines: []int{1, 5}, Protection: tt.protection, Policies: tt.policies, Seed: 7}
			var got []string
			seeds := make(map[uint64]int)
			for i, point := range Points(p) {
				if point.Index != i {
					t.Errorf("point %d has index %d", i, point.Index)
				}
				got = append(got, fmt.Sprintf("%d/%s/%s", point.Machines, point.Protection, point.Policy))
				if n, seen := seeds[point.Seed]; seen && n != point.Machines {
					t.Errorf("levels %d and %d have the same seed", n, point.Machines)
				}
				seeds[point.Seed] = point.Machines
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("points (-want +got):\n%s", diff)
			}
			if len(seeds) != 2 {
				t.Errorf("%d seeds for two levels: the points of one do not share theirs", len(seeds))
			}
		})
	}
}

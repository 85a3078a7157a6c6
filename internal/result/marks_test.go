package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/session"
)

// level is a sound row of one curve.
func level(machines int, goodput, ci, failed float64) Row {
	r := Row{Protection: "off", Policy: "aimd", Mode: Sim, Machines: machines, Offered: goodput + failed, GoodputCI95: ci}
	r.Rates[session.OK], r.Rates[session.Timeout] = goodput, failed
	r.Steady.OK, r.GeneratorOK.OK = true, true
	return r
}

func ptr[T any](x T) *T { return &x }

func TestMarks(t *testing.T) {
	cliff := []Row{
		level(1, 400, 0, 0), level(4, 1480, 0, 0), level(8, 1880, 0, 0), level(10, 1900, 0, 0),
		level(12, 1100, 0, 600), level(14, 100, 0, 1400), level(16, 0, 0, 1600), level(20, 0, 0, 2200),
	}
	tests := []struct {
		name string
		rows []Row
		want Marks
	}{
		{"one level", []Row{level(4, 1480, 9, 0)}, Marks{Peak: 1480, PeakMachines: 4, PeakAlone: true, Knee: ptr(4), LastMachines: 4, LastShare: 1, Levels: 1}},
		{"nothing ever", []Row{level(4, 0, 0, 10), level(8, 0, 0, 20)}, Marks{PeakMachines: 4, LastMachines: 8, Levels: 2}},
		{"cliff", cliff, Marks{
			Peak: 1900, PeakMachines: 10, PeakAlone: true, Knee: ptr(8), Half: ptr(12.3), HalfBetween: &[2]int{12, 14}, Zero: ptr(16), ZeroBetween: &[2]int{14, 16}, FailedAtZero: ptr(1600.0),
			LastMachines: 20, Levels: 8,
		}},
		{"still rising", cliff[:3], Marks{Peak: 1880, PeakMachines: 8, PeakAlone: true, Knee: ptr(8), LastMachines: 8, LastShare: 1, Levels: 3}},
		{"half but not zero", cliff[:6], Marks{
			Peak: 1900, PeakMachines: 10, PeakAlone: true, Knee: ptr(8), Half: ptr(12.3), HalfBetween: &[2]int{12, 14}, LastMachines: 14, LastShare: 100.0 / 1900, Levels: 6,
		}},
		{"the bound, not the mean, must be below 1 %", []Row{level(1, 1000, 0, 0), level(2, 5, 8, 7), level(3, 5, 2, 9)}, Marks{
			Peak: 1000, PeakMachines: 1, Knee: ptr(1), Half: ptr(1 + 500.0/995), HalfBetween: &[2]int{1, 2}, Zero: ptr(3), ZeroBetween: &[2]int{2, 3}, FailedAtZero: ptr(9.0),
			LastMachines: 3, LastShare: 0.005, Levels: 3,
		}},
		{"a dip before the peak is no crossing", []Row{level(1, 900, 0, 0), level(2, 0, 0, 0), level(3, 1000, 0, 0)}, Marks{
			Peak: 1000, PeakMachines: 3, PeakAlone: true, Knee: ptr(3), LastMachines: 3, LastShare: 1, Levels: 3,
		}},
		{"the first of two crossings", []Row{level(1, 1000, 0, 0), level(2, 400, 0, 0), level(3, 800, 0, 0), level(4, 100, 0, 0)}, Marks{
			Peak: 1000, PeakMachines: 1, Knee: ptr(1), Half: ptr(1 + 500.0/600), HalfBetween: &[2]int{1, 2}, LastMachines: 4, LastShare: 0.1, Levels: 4,
		}},
		{"a load measured twice", []Row{level(2, 1000, 0, 0), level(4, 900, 0, 0), level(4, 100, 0, 0)}, Marks{
			Peak: 1000, PeakMachines: 2, PeakAlone: true, Knee: ptr(2), Half: ptr(4.0), HalfBetween: &[2]int{4, 4}, LastMachines: 4, LastShare: 0.1, Levels: 3,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Curve = Curve{Mode: Sim, Policy: "aimd", Protection: "off"}
			got := ComputeMarks(tt.rows)
			if diff := cmp.Diff([]Marks{tt.want}, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What lies between two levels is known only as well as these are near each other.
func TestMarksFar(t *testing.T) {
	tests := []struct {
		name        string
		machines    []int // the second is the peak, half of it is crossed between the last two
		alone, half bool
	}{
		{"every load", []int{7, 8, 9, 10}, false, false},
		{"small loads, none between", []int{1, 2, 3, 4}, false, false},
		{"within a tenth", []int{38, 40, 44, 48}, false, false},
		{"far below the peak", []int{30, 40, 44, 48}, true, false},
		{"far above the peak", []int{39, 40, 45, 49}, true, false},
		{"far about half", []int{39, 40, 44, 49}, false, true},
		{"three levels in all", []int{1, 4, 14, 24}, true, true},
	}
	for _, tt := range tests {
		rows := make([]Row, len(tt.machines))
		for i, goodput := range []float64{900, 1000, 800, 300} {
			rows[i] = level(tt.machines[i], goodput, 0, 0)
		}
		m := ComputeMarks(rows)[0]
		if m.PeakAlone != tt.alone || m.HalfFar() != tt.half || *m.HalfBetween != [2]int(tt.machines[2:]) {
			t.Errorf("%s: alone %v, half far %v between %v; want %v, %v", tt.name, m.PeakAlone, m.HalfFar(), *m.HalfBetween, tt.alone, tt.half)
		}
	}
	for _, tt := range []struct {
		last int
		far  bool
	}{{9, false}, {10, true}, {37, true}} {
		m := ComputeMarks([]Row{level(7, 900, 0, 0), level(8, 1000, 0, 0), level(tt.last, 0, 0, 9)})[0]
		if *m.Zero != tt.last || m.ZeroFar() != tt.far || *m.ZeroBetween != [2]int{8, tt.last} {
			t.Errorf("zero at %d between %v, far %v; want %v", *m.Zero, *m.ZeroBetween, m.ZeroFar(), tt.far)
		}
	}
	if m := ComputeMarks([]Row{level(1, 1000, 0, 0), level(2, 900, 0, 0)})[0]; m.PeakAlone || m.HalfFar() || m.ZeroFar() {
		t.Errorf("no load is below one machine, and no half was reached: %+v", m)
	}
}

func TestCurves(t *testing.T) {
	rows := []Row{level(8, 1, 0, 0), level(4, 2, 0, 0), level(4, 3, 0, 0), level(5, 4, 0, 0)}
	rows[2].Protection = "on"
	rows[3].Protection = Mixed
	rows[0].Steady.OK = false
	curves, groups := Curves(rows)
	if len(curves) != 2 || curves[0].Protection != "off" || curves[1].Protection != "on" {
		t.Fatalf("curves %+v, want off and on", curves)
	}
	if groups[0][0].Machines != 4 || groups[0][1].Machines != 8 {
		t.Errorf("off is not in order of load: %+v", groups[0])
	}
	if m := ComputeMarks(rows)[0]; m.Weak != 1 || m.Levels != 2 {
		t.Errorf("weak %d of %d, want 1 of 2", m.Weak, m.Levels)
	}
}

// Marks against an oracle that walks along the curve in small steps.
func TestMarksOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		goodputs := rapid.SliceOfN(rapid.Float64Range(0, 2000), 1, 20).Draw(t, "goodputs")
		rows := make([]Row, len(goodputs))
		peak, at := -1.0, 0
		for i, g := range goodputs {
			rows[i] = level(3*i+1, g, 1, 5)
			if g > peak {
				peak, at = g, i
			}
		}
		m := ComputeMarks(rows)[0]
		if m.Peak != peak || m.PeakMachines != rows[at].Machines {
			t.Fatalf("peak %v at %d, want %v at %d", m.Peak, m.PeakMachines, peak, rows[at].Machines)
		}
		checkBracket(t, &m)
		half := -1.0
		for x := float64(rows[at].Machines); peak > 0 && x < float64(rows[len(rows)-1].Machines); x += 0.01 {
			i := int(x-1) / 3
			share := (x - float64(rows[i].Machines)) / 3
			if goodputs[i]*(1-share)+goodputs[i+1]*share <= peak/2 {
				half = x
				break
			}
		}
		switch {
		case half < 0 && m.Half != nil && *m.Half < float64(rows[len(rows)-1].Machines)-0.02:
			t.Fatalf("half at %v, want not reached", *m.Half)
		case half >= 0 && (m.Half == nil || *m.Half > half+0.02 || *m.Half < half-0.02):
			t.Fatalf("half at %v, want %v", m.Half, half)
		}
	})
}

func checkBracket(t *rapid.T, m *Marks) {
	if (m.Half == nil) != (m.HalfBetween == nil) {
		t.Fatalf("half %v between %v", m.Half, m.HalfBetween)
	}
	if m.Half != nil && (*m.Half < float64(m.HalfBetween[0]) || *m.Half > float64(m.HalfBetween[1])) {
		t.Fatalf("half at %v, not between %v", *m.Half, *m.HalfBetween)
	}
}

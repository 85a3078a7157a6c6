package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with testdata/name, or rewrites it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: make it with go test -update", err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (-want +got):\n%s", name, cmp.Diff(string(want), string(got)))
	}
}

// shape is a level in short: machines, then goodput, time-outs and rejections per second.
type shape struct {
	machines                   int
	goodput, timeout, rejected float64
}

// The levels that an independent simulation of the published testbed gave.
var (
	offShape = []shape{
		{1, 400, 0, 0},
		{4, 1478, 0, 0},
		{8, 1881, 1, 0},
		{11, 1718, 150, 0},
		{12, 1118, 610, 0},
		{13, 0, 1458, 0},
		{14, 0, 1571, 0},
		{20, 0, 2242, 0},
		{24, 0, 2693, 0},
		{26, 0, 2917, 0},
		{37, 0, 4150, 0},
		{45, 0, 5046, 0},
	}
	aimdShape = []shape{
		{1, 399, 0, 0},
		{4, 1482, 0, 0},
		{8, 1882, 1, 0},
		{11, 1836, 88, 3},
		{12, 1734, 212, 77},
		{13, 1645, 314, 244},
		{14, 1590, 385, 463},
		{20, 1240, 721, 3271},
		{24, 1047, 936, 5170},
		{26, 936, 1064, 6086},
		{37, 342, 1560, 12400},
		{45, 296, 1780, 16200},
	}
	pacedShape = []shape{
		{1, 399, 0, 0},
		{4, 1482, 0, 0},
		{8, 1898, 0, 151},
		{11, 1899, 0, 1800},
		{12, 1897, 0, 2390},
		{13, 1898, 0, 2990},
		{14, 1900, 0, 3600},
		{20, 1898, 0, 7150},
		{24, 1898, 0, 9540},
		{26, 1898, 0, 10750},
		{37, 1898, 0, 17300},
		{45, 1900, 0, 22050},
	}
)

const fixtureRun = "20261130T161500Z-ab12cd"

// pick returns the shapes of these loads.
func pick(all []shape, machines ...int) []shape {
	return slices.DeleteFunc(slices.Clone(all), func(s shape) bool { return !slices.Contains(machines, s.machines) })
}

// curveRows makes rows of shapes; all are sound.
func curveRows(protection, policy string, shapes []shape) []result.Row {
	rows := make([]result.Row, len(shapes))
	for i, s := range shapes {
		rows[i] = result.Row{
			Run: fixtureRun, Mode: result.Sim, Profile: "nsdi04", Policy: policy, Protection: protection,
			Machines: s.machines, Threads: 12, Users: 12 * s.machines, Duration: 2 * time.Minute,
			Offered: s.goodput + s.timeout + s.rejected, GoodputCI95: s.goodput / 80,
			Late: s.timeout / 2, CopiesPerWrite: 3, AckedPerWrite: 2.9, Fairness: 0.998,
			Latency: result.Quantiles{
				P50: 12 * time.Millisecond, P90: 31 * time.Millisecond, P99: 48 * time.Millisecond,
				P999: 55 * time.Millisecond, Max: 60 * time.Millisecond,
			},
			Steady: result.Verdict{OK: true}, GeneratorOK: result.Verdict{OK: true},
		}
		rows[i].Rates[session.OK], rows[i].Rates[session.Timeout], rows[i].Rates[session.Rejected] = s.goodput, s.timeout, s.rejected
		if s.goodput == 0 {
			rows[i].Latency, rows[i].CopiesPerWrite, rows[i].AckedPerWrite = result.Quantiles{}, 0, 0
		}
	}
	return rows
}

// fixture is a complete simulated run with the given rows.
func fixture(t *testing.T, rows []result.Row) *result.Run {
	t.Helper()
	p, err := profile.ByName("nsdi04")
	if err != nil {
		t.Fatal(err)
	}
	p.Sources = nil
	return &result.Run{
		State: result.Complete,
		Rows:  rows,
		Manifest: result.Manifest{
			FormatVersion: 1, Run: fixtureRun, Mode: result.Sim, Profile: p,
			Plan: result.Plan{
				Policies: []string{"aimd"}, Threads: 12, Duration: 2 * time.Minute, Timeout: 60 * time.Millisecond,
				W: 3, WQ: 2, R: 1, Size: 8192, Profile: "nsdi04", Bricks: 8, Seed: 7,
			},
			Parameters: []result.Parameter{{Name: "w", Value: "3", Source: "published"}, {Name: "bricks", Value: "8", Source: "chosen to fit"}},
			Version:    "v0.1.0", BinarySHA256: "00ff", Hosts: []string{"local"}, Kernel: "Linux 6.1", CPU: "test", Cores: 2,
			Go: "go1.26", Started: time.Date(2026, 11, 30, 16, 15, 0, 0, time.UTC),
		},
		Events: []result.Event{{Level: 3, Second: 10, Kind: "brick-down", Who: "brick-3", What: "killed <by> a fault"}},
	}
}

// interleave orders rows as a run measures them: every curve at each load.
func interleave(curves ...[]result.Row) []result.Row {
	var rows []result.Row
	for i := range curves[0] {
		for _, c := range curves {
			rows = append(rows, c[i])
		}
	}
	return rows
}

// onOffRun is the usual run, with two weak rows and a note.
func onOffRun(t *testing.T) *result.Run {
	t.Helper()
	rows := interleave(curveRows("off", "aimd", offShape), curveRows("on", "aimd", aimdShape))
	rows[8].Steady = result.Verdict{Why: "goodput drifts by -34 % of its mean across the level"}
	rows[23].GeneratorOK = result.Verdict{Why: "its timers were late by 9.1 ms at p99"}
	rows[23].Notes = []string{"brick-3 was down for 4 s"}
	return fixture(t, rows)
}

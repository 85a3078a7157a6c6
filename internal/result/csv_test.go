package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/session"
)

// What is written must be taken back, and come out byte for byte the same.
func TestLevelsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(anyRow), 0, 5).Draw(t, "rows")
		text := FormatLevels(rows)
		again, err := ParseLevels(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		for i := range rows {
			if w := rows[i].Rates[session.Wrong]; again[i].Rates[session.Wrong]-w > 0.01 || w-again[i].Rates[session.Wrong] > 0.01 {
				t.Fatalf("row %d: wrong at %v/s, want %v", i, again[i].Rates[session.Wrong], w)
			}
		}
	})
}

func TestSeriesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Second {
			s := Second{
				Level: rapid.IntRange(0, 99).Draw(t, "level"), Second: rapid.IntRange(-10, 200).Draw(t, "second"),
				Machines: 4, Policy: "aimd", Protection: "on", Late: rapid.Uint64().Draw(t, "late"),
				P50: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "p50")),
			}
			for o := range s.Count {
				s.Count[o] = rapid.Uint64().Draw(t, "count")
			}
			return s
		}), 0, 9).Draw(t, "seconds")
		if again, err := ParseSeries(FormatSeries(seconds)); err != nil || len(again) != len(seconds) {
			t.Fatalf("%d seconds of %d, error %v", len(again), len(seconds), err)
		}
	})
}

func TestHeaders(t *testing.T) {
	// Scripts depend on these; they are spelled out here so that no edit slips by.
	const levels = "run,mode,profile,policy,protection,machines,threads,users,duration_s,offered_rps,goodput_rps,goodput_ci95_rps,failed_rps,timeout_rps,rejected_rps,refused_rps,error_rps,late_rps,wrong_total,lost_total,p50_ms,p90_ms,p99_ms,p999_ms,max_ms,copies_per_write,fairness,steady,generator_ok\n"
	const series = "level,second,machines,policy,protection,ok,timeout,rejected,refused,error,late,wrong,p50_ms,p99_ms\n"
	if got := string(FormatLevels(nil)); got != levels {
		t.Errorf("levels.csv starts with %s", got)
	}
	if got := string(FormatSeries(nil)); got != series {
		t.Errorf("series.csv starts with %s", got)
	}
}

func TestParseErrors(t *testing.T) {
	good := string(FormatSeries([]Second{second(0, "on", 5, 1)}))
	tests := []struct {
		name, src string
		line      int
	}{
		{"empty", "", 1},
		{"another header", strings.Replace(good, "late", "tardy", 1), 1},
		{"a word for a count", strings.Replace(good, ",5,", ",five,", 1), 2},
		{"negative", strings.Replace(good, "0.000", "-1.000", 1), 2},
		{"not a number", strings.Replace(good, "0.000", "NaN", 1), 2},
		{"infinite", strings.Replace(good, "0.000", "+Inf", 1), 2},
		{"digits lost", strings.Replace(good, "0.000", "0", 1), 2},
		{"line feeds of Windows", strings.ReplaceAll(good, "\n", "\r\n"), 1},
		{"short record", good + "1,2\n", 0},
		{"no last line feed", strings.TrimSuffix(good, "\n"), 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseSeries([]byte(tt.src))
			var format *FormatError
			if !errors.As(err, &format) || format.Line != tt.line {
				t.Errorf("error %v, want a FormatError at line %d", err, tt.line)
			}
		})
	}
}

func FuzzParseLevels(f *testing.F) {
	f.Add(FormatLevels(nil))
	f.Add(FormatLevels([]Row{level(4, 1480.5, 12.25, 3), level(8, 0, 0, 1500)}))
	f.Fuzz(func(t *testing.T, src []byte) {
		rows, err := ParseLevels(src)
		if err == nil && !bytes.Equal(src, FormatLevels(rows)) {
			t.Errorf("%q comes out as %q", src, FormatLevels(rows))
		}
	})
}

func FuzzParseSeries(f *testing.F) {
	f.Add(FormatSeries(nil))
	f.Add(FormatSeries([]Second{second(-1, "on", 5, 1), second(0, "off", 7, 0)}))
	f.Fuzz(func(t *testing.T, src []byte) {
		seconds, err := ParseSeries(src)
		if err == nil && !bytes.Equal(src, FormatSeries(seconds)) {
			t.Errorf("%q comes out as %q", src, FormatSeries(seconds))
		}
	})
}

// Where there was nothing to share the fairness is not known, in every form of a row.
func TestFairnessUnknown(t *testing.T) {
	for _, tt := range []struct {
		goodput, fairness float64
		csv, json         string
	}{
		{1000, 0.98, "0.980", `"fairness":0.98`},
		{1000, 0.0001, "0.001", `"fairness":0.0001`}, // one of ten thousand has it all
		{0, 1, "", `"fairness":null`},                // as it was once written
		{0, 0, "", `"fairness":null`},
		{1000, 0, "", `"fairness":null`}, // all of it was that of guests
	} {
		r := level(4, tt.goodput, 0, 10)
		r.Fairness = tt.fairness
		record := levelRecord(&r)
		text, err := json.Marshal(r)
		if err != nil || record[len(record)-3] != tt.csv || !strings.Contains(string(text), tt.json) {
			t.Errorf("%v of %v: %q and %s, error %v", tt.fairness, tt.goodput, record[len(record)-3], text, err)
		}
		if rows, err := ParseLevels(FormatLevels([]Row{r})); err != nil || rows[0].FairnessKnown() != r.FairnessKnown() {
			t.Errorf("%v of %v: read back as %+v, error %v", tt.fairness, tt.goodput, rows, err)
		}
	}
}

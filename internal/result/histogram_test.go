package result

import (
	"math"
	"slices"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Quantiles against sorting, through recording in parts, encoding and merging.
func TestHistogramsOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := rapid.SliceOfN(rapid.Int64Range(0, int64(2*time.Minute)), 1, 200).Draw(t, "durations")
		total := NewHistograms()
		part := NewHistograms()
		for i, d := range ds {
			part.Record(session.Op(i%session.NumOps), session.OK, time.Duration(d))
			part.Record(session.Write, session.Timeout, time.Hour)
			if i%50 != 0 && i != len(ds)-1 {
				continue
			}
			encoded, err := part.Encode()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range encoded {
				if err := total.MergeEncoded(e); err != nil {
					t.Fatal(err)
				}
			}
			part.Reset()
		}
		slices.Sort(ds)
		q := total.OK()
		for share, got := range map[float64]time.Duration{0.5: q.P50, 0.9: q.P90, 0.99: q.P99, 0.999: q.P999, 1: q.Max} {
			// HdrHistogram takes the nearest rank.
			want := ds[max(0, int(share*float64(len(ds))+0.5)-1)]
			if math.Abs(float64(int64(got)-want)) > 0.001*float64(want)+1000 {
				t.Fatalf("quantile %v is %v, want %v", share, got, time.Duration(want))
			}
		}
		if n := total.Count(session.Write, session.Timeout); n != uint64(len(ds)) {
			t.Fatalf("%d time-outs, want %d", n, len(ds))
		}
	})
}

func TestHistogramsBounds(t *testing.T) {
	h, other := NewHistograms(), NewHistograms()
	if q := h.OK(); q != (Quantiles{}) {
		t.Errorf("nothing recorded: %+v", q)
	}
	other.Record(session.Read, session.OK, -time.Second)
	other.Record(session.Read, session.OK, 24*time.Hour)
	h.Merge(other)
	if q := h.OK(); h.Count(session.Read, session.OK) != 2 || q.P50 > time.Microsecond || q.Max < 10*time.Minute || q.Max > 11*time.Minute {
		t.Errorf("clamped to %+v, want 0 and 10 minutes", q)
	}
	h.Reset()
	if h.Count(session.Read, session.OK) != 0 || other.Count(session.Read, session.OK) != 2 {
		t.Error("Reset must empty the one set alone")
	}
}

func TestMergeEncodedRejects(t *testing.T) {
	wide := hdr.New(1, math.MaxInt64/2, 5) // would take 50 MB
	if err := wide.RecordValue(1); err != nil {
		t.Fatal(err)
	}
	data, err := wide.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	good := NewHistograms()
	good.Record(session.Write, session.OK, time.Millisecond)
	encoded, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		e    Encoded
	}{
		{"no operation", Encoded{Op: session.NumOps, Data: encoded[0].Data}},
		{"no outcome", Encoded{Outcome: session.NumOutcomes, Data: encoded[0].Data}},
		{"nothing", Encoded{}},
		{"too large", Encoded{Data: make([]byte, MaxEncoded+1)}},
		{"another geometry", Encoded{Data: data}},
		{"cut short", Encoded{Data: encoded[0].Data[:len(encoded[0].Data)-8]}},
	}
	for _, tt := range tests {
		h := NewHistograms()
		if err := h.MergeEncoded(tt.e); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
		if all, err := h.Encode(); err != nil || len(all) != 0 {
			t.Errorf("%s: left something behind", tt.name)
		}
	}
}

// The longest encoding of the geometry must fit the bound.
func TestMaxEncoded(t *testing.T) {
	h := NewHistograms()
	for d := time.Duration(0); d < 10*time.Minute; d += max(500, d/2100) {
		for range 1 + int(d)%200 { // counts that do not compress
			h.Record(session.Write, session.OK, d)
		}
	}
	encoded, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(encoded[0].Data); n > MaxEncoded/2 {
		t.Errorf("%d bytes come too near to the bound of %d", n, MaxEncoded)
	}
}

func FuzzMergeEncoded(f *testing.F) {
	h := NewHistograms()
	for i := range 50 {
		h.Record(session.Read, session.OK, time.Duration(i*i)*time.Millisecond)
	}
	encoded, err := h.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(1), uint8(0), encoded[0].Data)
	f.Add(uint8(9), uint8(9), []byte("HISTFAAA"))
	f.Fuzz(func(t *testing.T, op, outcome uint8, data []byte) {
		h := NewHistograms()
		err := h.MergeEncoded(Encoded{Op: session.Op(op), Outcome: session.Outcome(outcome), Data: data})
		if all, encErr := h.Encode(); err != nil && (encErr != nil || len(all) != 0) {
			t.Errorf("after %v: %d histograms, %v", err, len(all), encErr)
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	h := NewHistograms()
	for i := range b.N {
		h.Record(session.Write, session.OK, time.Duration(i%60)*time.Millisecond)
	}
}

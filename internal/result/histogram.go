package result

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ssmctl/ssmctl/internal/session"
)

// The geometry of every histogram: nanoseconds, so that a log's maxima come out in
// milliseconds as the format's readers expect. It takes 180 KB whatever is recorded.
const (
	histLowest  = int64(time.Microsecond)
	histHighest = int64(10 * time.Minute)
	histDigits  = 3
)

// MaxEncoded bounds one encoded histogram, in bytes: the counts of the geometry
// above at their longest, in base64.
const MaxEncoded = 300 << 10

// Histograms hold a latency distribution for each operation and outcome, in fixed
// memory (2.2 MB). They are not safe for concurrent use. Make them by NewHistograms.
type Histograms struct {
	by [session.NumOps][session.NumOutcomes]*hdr.Histogram
}

// NewHistograms returns an empty set.
func NewHistograms() *Histograms {
	h := new(Histograms)
	for op := range h.by {
		for o := range h.by[op] {
			h.by[op][o] = hdr.New(histLowest, histHighest, histDigits)
		}
	}
	return h
}

// Record adds one attempt that took d. What is below 0 or above 10 minutes counts
// as the bound. An unknown operation or outcome is a bug of the caller and panics.
func (h *Histograms) Record(op session.Op, o session.Outcome, d time.Duration) {
	// In range, RecordValue cannot fail.
	_ = h.by[op][o].RecordValue(min(max(int64(d), 0), histHighest))
}

// Merge adds all of other's attempts.
func (h *Histograms) Merge(other *Histograms) {
	for op := range h.by {
		for o := range h.by[op] {
			if other.by[op][o].TotalCount() > 0 {
				h.by[op][o].Merge(other.by[op][o])
			}
		}
	}
}

// Reset empties the set and keeps its memory.
func (h *Histograms) Reset() {
	for op := range h.by {
		for _, one := range h.by[op] {
			if one.TotalCount() > 0 {
				one.Reset()
			}
		}
	}
}

// Count returns the number of attempts of an operation that ended in an outcome.
func (h *Histograms) Count(op session.Op, o session.Outcome) uint64 {
	return uint64(h.by[op][o].TotalCount())
}

// OK returns the quantiles of all ok attempts, writes and reads together; each is
// within 0.1 % or half a microsecond of the true one.
func (h *Histograms) OK() Quantiles {
	ok := h.by[session.Write][session.OK].Clone()
	ok.Merge(h.by[session.Read][session.OK])
	if ok.TotalCount() == 0 {
		return Quantiles{}
	}
	at := ok.ValueAtPercentilesSlice([]float64{50, 90, 99, 99.9})
	return Quantiles{
		P50: time.Duration(at[0]), P90: time.Duration(at[1]), P99: time.Duration(at[2]),
		P999: time.Duration(at[3]), Max: time.Duration(ok.Max()),
	}
}

// Encoded is one histogram on its way from an agent to the coordinator.
type Encoded struct {
	Op      session.Op      `json:"op"`
	Outcome session.Outcome `json:"outcome"`
	// Data is HdrHistogram's V2 compressed encoding in base64; at most MaxEncoded bytes.
	Data []byte `json:"data"`
}

// Encode returns the histograms that are not empty.
func (h *Histograms) Encode() ([]Encoded, error) {
	var all []Encoded
	for op := range h.by {
		for o, one := range h.by[op] {
			if one.TotalCount() == 0 {
				continue
			}
			data, err := one.EncodeV2()
			if err != nil {
				return nil, fmt.Errorf("encode histogram: %w", err)
			}
			all = append(all, Encoded{Op: session.Op(op), Outcome: session.Outcome(o), Data: data})
		}
	}
	return all, nil
}

// MergeEncoded adds a histogram that was encoded elsewhere. It trusts nothing in it:
// an operation, outcome, size or geometry that Encode would not give is an error, found
// before memory is taken for it, and changes nothing.
func (h *Histograms) MergeEncoded(e Encoded) error {
	if e.Op >= session.NumOps || e.Outcome >= session.NumOutcomes {
		return fmt.Errorf("histogram of operation %d, outcome %d: there is none", e.Op, e.Outcome)
	}
	one, err := decodeHistogram(e.Data)
	if err != nil {
		return fmt.Errorf("histogram of %s %s: %w", e.Op, e.Outcome, err)
	}
	h.by[e.Op][e.Outcome].Merge(one)
	return nil
}

func decodeHistogram(src []byte) (*hdr.Histogram, error) {
	if len(src) > MaxEncoded {
		return nil, fmt.Errorf("%d bytes, more than %d", len(src), MaxEncoded)
	}
	if err := checkGeometry(src); err != nil {
		return nil, err
	}
	return hdr.Decode(src)
}

// checkGeometry looks at the header alone. The library checks that a header is
// consistent, and then allocates whatever it asks for: up to 50 MB.
func checkGeometry(src []byte) error {
	raw := base64.NewDecoder(base64.StdEncoding, bytes.NewReader(src))
	if _, err := io.CopyN(io.Discard, raw, 8); err != nil { // cookie and length, which Decode checks
		return fmt.Errorf("header: %w", err)
	}
	z, err := zlib.NewReader(raw)
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	var header struct {
		Cookie, Length, Offset, Digits int32
		Lowest, Highest                int64
	}
	if err := binary.Read(z, binary.BigEndian, &header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if header.Digits != histDigits || header.Lowest != histLowest || header.Highest != histHighest {
		return fmt.Errorf("geometry %d..%d at %d digits, want %d..%d at %d",
			header.Lowest, header.Highest, header.Digits, histLowest, histHighest, histDigits)
	}
	return nil
}

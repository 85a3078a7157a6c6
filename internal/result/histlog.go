package result

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ssmctl/ssmctl/internal/session"
)

// histogramsHead starts a histogram log; HdrHistogram's own tools read it.
func histogramsHead() string {
	var buf bytes.Buffer
	w := hdr.NewHistogramLogWriter(&buf)
	// Writes to memory cannot fail.
	_ = w.OutputComment("[ssmctl: latencies in nanoseconds, tagged level/operation/outcome]")
	_ = w.OutputLogFormatVersion()
	_ = w.OutputLegend()
	return buf.String()
}

// formatHistograms returns a level's lines of the log: one for each operation and
// outcome that occurred.
func formatHistograms(level int, l Level) ([]byte, error) {
	var buf bytes.Buffer
	if l.Histograms == nil {
		return nil, nil
	}
	w := hdr.NewHistogramLogWriter(&buf)
	for op := range l.Histograms.by {
		for o, h := range l.Histograms.by[op] {
			if h.TotalCount() == 0 {
				continue
			}
			h.SetTag(histogramTag(level, session.Op(op), session.Outcome(o)))
			if !l.Start.IsZero() {
				h.SetStartTimeMs(l.Start.UnixMilli())
				h.SetEndTimeMs(l.Start.Add(l.Row.Duration).UnixMilli())
			}
			if err := w.OutputIntervalHistogram(h); err != nil {
				return nil, fmt.Errorf("histogram log: %w", err)
			}
		}
	}
	return buf.Bytes(), nil
}

func histogramTag(level int, op session.Op, o session.Outcome) string {
	return fmt.Sprintf("%d/%s/%s", level, op, o)
}

// parseHistograms collects one level's histograms from a log.
func parseHistograms(src []byte, level int) (*Histograms, error) {
	hists := NewHistograms()
	tags := make(map[string]Encoded)
	for op := range session.Op(session.NumOps) {
		for o := range session.NumOutcomes {
			tags[histogramTag(level, op, o)] = Encoded{Op: op, Outcome: o}
		}
	}
	for i, line := range strings.Split(string(src), "\n") {
		tag, rest, _ := strings.Cut(line, ",")
		e, ok := tags[strings.TrimPrefix(tag, "Tag=")]
		if !ok {
			continue
		}
		e.Data = []byte(rest[strings.LastIndexByte(rest, ',')+1:])
		if err := hists.MergeEncoded(e); err != nil {
			return nil, &FormatError{File: histogramsFile, Line: i + 1, Err: err}
		}
	}
	return hists, nil
}

// cutHistograms returns the log without the lines of the given level and later ones.
func cutHistograms(src []byte, levels int) []byte {
	var kept []byte
	for line := range bytes.Lines(src) {
		tag, ok := bytes.CutPrefix(line, []byte("Tag="))
		if ok {
			digits, _, _ := bytes.Cut(tag, []byte("/"))
			if level, err := strconv.Atoi(string(digits)); err != nil || level >= levels {
				continue
			}
		}
		kept = append(kept, line...)
	}
	return kept
}

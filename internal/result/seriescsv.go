package result

import (
	"strconv"
	"strings"

	"github.com/ssmctl/ssmctl/internal/session"
)

const seriesFile = "series.csv"

// SeriesHeader is the first line of series.csv and of every host's own file.
const SeriesHeader = "level,second,machines,policy,protection,ok,timeout,rejected,refused,error,late,wrong,p50_ms,p99_ms"

// FormatSeries returns seconds as CSV, header included.
func FormatSeries(seconds []Second) []byte {
	records := [][]string{strings.Split(SeriesHeader, ",")}
	for i := range seconds {
		records = append(records, seriesRecord(&seconds[i]))
	}
	return csvText(records...)
}

func seriesRecord(s *Second) []string {
	n := func(o session.Outcome) string { return strconv.FormatUint(s.Count[o], 10) }
	return []string{
		strconv.Itoa(s.Level), strconv.Itoa(s.Second), strconv.Itoa(s.Machines), s.Policy, s.Protection,
		n(session.OK), n(session.Timeout), n(session.Rejected), n(session.Refused), n(session.Error),
		strconv.FormatUint(s.Late, 10), n(session.Wrong), millis(s.P50), millis(s.P99),
	}
}

// ParseSeries is the inverse of FormatSeries. Only a file in the very form that
// FormatSeries writes is taken; every error is a *FormatError.
func ParseSeries(src []byte) ([]Second, error) {
	records, err := csvRecords(seriesFile, SeriesHeader, src)
	if err != nil {
		return nil, err
	}
	seconds := make([]Second, len(records))
	for i, record := range records {
		if seconds[i], err = parseSecond(record); err != nil {
			return nil, &FormatError{File: seriesFile, Line: i + 2, Err: err}
		}
	}
	if err := checkCanonical(seriesFile, src, FormatSeries(seconds)); err != nil {
		return nil, err
	}
	return seconds, nil
}

func parseSecond(record []string) (Second, error) {
	f := &fields{rest: record}
	s := Second{
		Level: f.integer(), Second: f.integer(), Machines: f.integer(), Policy: f.text(), Protection: f.text(),
	}
	for o := session.OK; o <= session.Error; o++ {
		s.Count[o] = f.count()
	}
	s.Late, s.Count[session.Wrong] = f.count(), f.count()
	s.P50, s.P99 = f.millis(), f.millis()
	return s, f.err
}

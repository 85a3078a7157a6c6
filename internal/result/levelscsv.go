package result

import (
	"strconv"
	"strings"

	"github.com/ssmctl/ssmctl/internal/session"
)

const levelsFile = "levels.csv"

// LevelsHeader is the first line of levels.csv, which scripts depend on.
const LevelsHeader = "run,mode,profile,policy,protection,machines,threads,users,duration_s,offered_rps,goodput_rps,goodput_ci95_rps,failed_rps,timeout_rps," +
	"rejected_rps,refused_rps,error_rps,late_rps,wrong_total,lost_total,p50_ms,p90_ms,p99_ms,p999_ms,max_ms,copies_per_write,fairness,steady,generator_ok"

// FormatLevels returns rows as CSV, header included. Decimals have three digits;
// failed is the difference of offered and goodput as they are shown.
func FormatLevels(rows []Row) []byte {
	records := [][]string{strings.Split(LevelsHeader, ",")}
	for i := range rows {
		records = append(records, levelRecord(&rows[i]))
	}
	return csvText(records...)
}

func levelRecord(r *Row) []string {
	return []string{
		r.Run, r.Mode, r.Profile, r.Policy, r.Protection,
		strconv.Itoa(r.Machines), strconv.Itoa(r.Threads), strconv.Itoa(r.Users), number(r.Duration.Seconds()),
		number(r.Offered), number(r.Goodput()), number(r.GoodputCI95), number(max(0, rounded(r.Offered)-rounded(r.Goodput()))),
		number(r.Rates[session.Timeout]), number(r.Rates[session.Rejected]),
		number(r.Rates[session.Refused]), number(r.Rates[session.Error]), number(r.Late),
		strconv.FormatUint(r.Wrong, 10), strconv.FormatUint(r.Lost, 10),
		millis(r.Latency.P50), millis(r.Latency.P90), millis(r.Latency.P99), millis(r.Latency.P999), millis(r.Latency.Max),
		number(r.CopiesPerWrite), fairnessText(r),
		strconv.FormatBool(r.Steady.OK), strconv.FormatBool(r.GeneratorOK.OK),
	}
}

// fairnessText is empty where there was nothing to share. What there is, however unfair, is shown
// as a thousandth at the least, so that the two are told apart.
func fairnessText(r *Row) string {
	if !r.FairnessKnown() {
		return ""
	}
	return number(max(r.Fairness, 1e-3))
}

// ParseLevels is the inverse of FormatLevels. What the CSV does not carry (reasons, notes,
// acknowledged copies) is empty; the rate of wrong replies is what the other failures
// leave. Only a file in the very form that FormatLevels writes is taken; every
// error is a *FormatError.
func ParseLevels(src []byte) ([]Row, error) {
	records, err := csvRecords(levelsFile, LevelsHeader, src)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(records))
	for i, record := range records {
		if rows[i], err = parseLevel(record); err != nil {
			return nil, &FormatError{File: levelsFile, Line: i + 2, Err: err}
		}
	}
	if err := checkCanonical(levelsFile, src, FormatLevels(rows)); err != nil {
		return nil, err
	}
	return rows, nil
}

func parseLevel(record []string) (Row, error) {
	f := &fields{rest: record}
	r := Row{
		Run: f.text(), Mode: f.text(), Profile: f.text(), Policy: f.text(), Protection: f.text(),
		Machines: f.integer(), Threads: f.integer(), Users: f.integer(), Duration: 1000 * f.millis(),
	}
	r.Offered, r.Rates[session.OK], r.GoodputCI95 = f.number(), f.number(), f.number()
	r.Rates[session.Wrong] = f.number() // all failures, for now
	for _, o := range []session.Outcome{session.Timeout, session.Rejected, session.Refused, session.Error} {
		r.Rates[o] = f.number()
		r.Rates[session.Wrong] -= r.Rates[o]
	}
	// Below the last digit shown there is only rounding.
	r.Rates[session.Wrong] = max(0, rounded(r.Rates[session.Wrong]))
	r.Late, r.Wrong, r.Lost = f.number(), f.count(), f.count()
	r.Latency = Quantiles{P50: f.millis(), P90: f.millis(), P99: f.millis(), P999: f.millis(), Max: f.millis()}
	r.CopiesPerWrite, r.Fairness = f.number(), f.numberIfAny()
	r.Steady.OK, r.GeneratorOK.OK = f.boolean(), f.boolean()
	return r, f.err
}

package result

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	errNegative  = errors.New("not a number of zero or more")
	errCanonical = errors.New("not in the form that ssmctl writes: was it edited or saved by another program?")
)

// csvText renders records. Writing to memory cannot fail.
func csvText(records ...[]string) []byte {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	_ = w.WriteAll(records)
	return buf.Bytes()
}

// csvRecords parses a file that must start with the header, and returns what
// follows it. All its errors are *FormatError.
func csvRecords(file, header string, src []byte) ([][]string, error) {
	r := csv.NewReader(bytes.NewReader(src))
	records, err := r.ReadAll()
	if err != nil {
		return nil, &FormatError{File: file, Err: err} // names the line itself
	}
	if len(records) == 0 || !slices.Equal(records[0], strings.Split(header, ",")) {
		return nil, &FormatError{File: file, Line: 1, Err: fmt.Errorf("the header is not %s", header)}
	}
	return records[1:], nil
}

// checkCanonical makes sure that nothing of a parsed file was lost: written again it
// must be the same bytes.
func checkCanonical(file string, src, again []byte) error {
	if bytes.Equal(src, again) {
		return nil
	}
	line := 1
	for i := range min(len(src), len(again)) {
		if src[i] != again[i] {
			break
		}
		if src[i] == '\n' {
			line++
		}
	}
	return &FormatError{File: file, Line: line, Err: errCanonical}
}

// fields reads a record from left to right and keeps the first error.
type fields struct {
	rest []string
	err  error
}

func (f *fields) text() string {
	s := f.rest[0]
	f.rest = f.rest[1:]
	return s
}

func (f *fields) fail(s string, err error) {
	if f.err == nil {
		f.err = fmt.Errorf("%q: %w", s, err)
	}
}

func (f *fields) integer() int {
	s := f.text()
	n, err := strconv.Atoi(s)
	if err != nil {
		f.fail(s, err)
	}
	return n
}

func (f *fields) count() uint64 {
	s := f.text()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		f.fail(s, err)
	}
	return n
}

// number reads a finite decimal of at least zero.
func (f *fields) number() float64 {
	s := f.text()
	x, err := strconv.ParseFloat(s, 64)
	if err == nil && (!(x >= 0) || math.IsInf(x, 0)) {
		err = errNegative
	}
	if err != nil {
		f.fail(s, err)
	}
	return x
}

// numberIfAny reads a number, or 0 if the field is empty.
func (f *fields) numberIfAny() float64 {
	if f.rest[0] == "" {
		f.text()
		return 0
	}
	return f.number()
}

func (f *fields) millis() time.Duration { return fromMillis(f.number()) }

func (f *fields) boolean() bool {
	s := f.text()
	b, err := strconv.ParseBool(s)
	if err != nil {
		f.fail(s, err)
	}
	return b
}

// decimals is the number of digits after the point in every CSV: a request in 1000 s,
// a microsecond.
const decimals = 3

func number(x float64) string { return strconv.FormatFloat(rounded(x), 'f', decimals, 64) }

// rounded is the value that number shows. It is taken apart so that a difference of
// shown values can be shown as what it is.
func rounded(x float64) float64 {
	const scale = 1000 // 10^decimals
	return math.Round(x*scale) / scale
}

func millis(d time.Duration) string { return number(Millis(d)) }

package result

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ssmctl/ssmctl/internal/protect"
)

// Condition is a bound on a column of levels.csv, such as "goodput_rps<1300", or
// of one protection alone, "on:p99_ms>55".
type Condition struct {
	text       string
	protection string // empty: every row
	column     int
	operator   string
	bound      float64
}

var conditionForm = regexp.MustCompile(`^\s*(?:(` + protectionForm() + `):)?\s*([a-z0-9_]+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$`)

// protectionForm matches what may stand in the column protection.
func protectionForm() string {
	var names []string
	for _, name := range append(protect.SettingNames(), Mixed) {
		names = append(names, regexp.QuoteMeta(name))
	}
	return strings.Join(names, "|")
}

// textColumns of levels.csv take no bound.
const textColumns = 5

// ParseCondition reads [PROTECTION:]COLUMN OPERATOR NUMBER. The operators are < <=
// > >= == !=; verdicts count as 1 and 0.
func ParseCondition(s string) (Condition, error) {
	m := conditionForm.FindStringSubmatch(s)
	if m == nil {
		return Condition{}, fmt.Errorf("%q: write COLUMN OPERATOR NUMBER, such as goodput_rps<1300 or on:p99_ms>55", s)
	}
	columns := strings.Split(LevelsHeader, ",")
	column := slices.Index(columns, m[2])
	if column < textColumns {
		return Condition{}, fmt.Errorf("%q: no column %s takes a bound: choose %s", s, m[2], strings.Join(columns[textColumns:], ", "))
	}
	bound, err := strconv.ParseFloat(m[4], 64)
	if err != nil || bound != bound {
		return Condition{}, fmt.Errorf("%q: %s is not a number", s, m[4])
	}
	return Condition{text: strings.TrimSpace(s), protection: m[1], column: column, operator: m[3], bound: bound}, nil
}

// String returns the condition as it was written.
func (c *Condition) String() string { return c.text }

// Protection returns the protection that the condition is about; empty is any.
func (c *Condition) Protection() string { return c.protection }

// Holds reports whether a row meets the condition, and the row's figure. One that the row does not
// have meets none.
func (c *Condition) Holds(r *Row) (bool, string) {
	shown := levelRecord(r)[c.column]
	if shown == "" || (c.protection != "" && c.protection != r.Protection) {
		return false, shown
	}
	figure, err := strconv.ParseFloat(shown, 64)
	if err != nil { // a verdict
		figure = 0
		if shown == strconv.FormatBool(true) {
			figure = 1
		}
	}
	return map[string]bool{
		"<": figure < c.bound, "<=": figure <= c.bound, ">": figure > c.bound, ">=": figure >= c.bound,
		"==": figure == c.bound, "!=": figure != c.bound,
	}[c.operator], shown
}

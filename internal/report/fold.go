package report

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fold makes one note of all that say the same of several bricks. Counts (a whole
// number of some things) are summed; any other figure must be the same.
func fold(notes []string) []string {
	var folded []*brickNote
	for _, text := range notes {
		n := parseNote(text)
		i := slices.IndexFunc(folded, func(o *brickNote) bool { return o.form == n.form })
		if i >= 0 && len(n.bricks) > 0 {
			folded[i].count += n.count
			maps.Copy(folded[i].bricks, n.bricks)
			continue
		}
		folded = append(folded, n)
	}
	texts := make([]string, len(folded))
	for i, n := range folded {
		texts[i] = n.String()
	}
	return texts
}

// brickNote is a note about one brick or several.
type brickNote struct {
	form   string // the text, with the places below where its brick and its count stood
	bricks map[int]bool
	count  uint64
}

// What stands in a form for the brick, the count, and the s of what is counted. No
// note has control characters.
const (
	brickPlace  = "\x01"
	countPlace  = "\x02"
	pluralPlace = "\x03"
)

var (
	brickName = regexp.MustCompile(`\bbrick-(\d{1,9})\b`)
	countOf   = regexp.MustCompile(`\b(\d{1,18}) ([a-z]+)s\b`) // "12 writes"; a unit such as s has no letter before its s
	howOften  = regexp.MustCompile(`\b(once|\d+ times)\b`)
	severally = strings.NewReplacer(" its inbox", " their inboxes", " its memory", " their memories", " was ", " were ", " its ", " their ")
)

// parseNote takes a note apart. One that is not about a single brick has none, and
// stays as it is.
func parseNote(text string) *brickNote {
	n := &brickNote{form: text}
	names := brickName.FindAllStringSubmatch(text, -1)
	if len(names) != 1 {
		return n
	}
	brick, _ := strconv.Atoi(names[0][1])
	n.bricks = map[int]bool{brick: true}
	n.form = strings.Replace(text, names[0][0], brickPlace, 1)
	counts := countOf.FindAllStringSubmatchIndex(n.form, -1)
	counts = slices.DeleteFunc(counts, func(at []int) bool { return n.form[at[4]:at[5]] == "time" }) // of each, not of all
	if len(counts) == 1 {
		at := counts[0]
		n.count, _ = strconv.ParseUint(n.form[at[2]:at[3]], 10, 64)
		n.form = n.form[:at[2]] + countPlace + n.form[at[3]:at[5]] + pluralPlace + n.form[at[1]:]
	}
	return n
}

func (n *brickNote) String() string {
	form := n.form
	if len(n.bricks) > 1 {
		form = severally.Replace(howOften.ReplaceAllString(form, "$0 each"))
	}
	s := "s"
	if n.count == 1 {
		s = ""
	}
	return strings.NewReplacer(brickPlace, brickNames(n.bricks), countPlace, grouped(n.count), pluralPlace, s).Replace(form)
}

// brickNames lists bricks in order, three or more in a row by the first and last.
func brickNames(bricks map[int]bool) string {
	var names []string
	ids := slices.Sorted(maps.Keys(bricks))
	for i := 0; i < len(ids); i++ {
		j := i
		for j+1 < len(ids) && ids[j+1] == ids[j]+1 {
			j++
		}
		name := fmt.Sprintf("brick-%d", ids[i])
		if j > i+1 {
			name += fmt.Sprintf(" .. brick-%d", ids[j])
			i = j
		}
		names = append(names, name)
	}
	return list(names)
}

// grouped shows a count with a comma before every three digits.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

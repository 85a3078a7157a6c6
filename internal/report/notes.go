package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ssmctl/ssmctl/internal/result"
)

// footnotes are numbered from 1 in the order in which they are first called for;
// the same text has the same number.
type footnotes struct{ texts []string }

// mark returns the number of a text.
func (f *footnotes) mark(text string) int {
	if i := slices.Index(f.texts, text); i >= 0 {
		return i + 1
	}
	f.texts = append(f.texts, text)
	return len(f.texts)
}

// marks returns the numbers of all that a reader must know to judge a row.
func (f *footnotes) marks(r *result.Row) string {
	var all []string
	for _, text := range rowNotes(r) {
		all = append(all, fmt.Sprintf("[%d]", f.mark(text)))
	}
	return strings.Join(all, "")
}

func (f *footnotes) write(w io.Writer) error {
	for i, text := range f.texts {
		if _, err := fmt.Fprintf(w, "[%d] %s\n", i+1, text); err != nil {
			return err
		}
	}
	return nil
}

// rowNotes explains a row's failed verdicts, and what must never be, and repeats its notes.
func rowNotes(r *result.Row) []string {
	var notes []string
	verdict := func(v result.Verdict, failed string) {
		switch {
		case v.OK:
		case v.Why == "":
			notes = append(notes, failed)
		default:
			notes = append(notes, failed+": "+v.Why)
		}
	}
	verdict(r.Steady, "not steady")
	verdict(r.GeneratorOK, "the load generator is not to be believed")
	if r.Wrong > 0 {
		notes = append(notes, fmt.Sprintf("wrong: %d of the replies failed verification", r.Wrong))
	}
	if r.Lost > 0 {
		notes = append(notes, fmt.Sprintf("lost: %d of the acknowledged states are on none of their bricks", r.Lost))
	}
	return append(notes, r.Notes...)
}

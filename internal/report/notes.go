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
type footnotes struct {
	texts   []string
	written int // of these, by write
}

// number returns the number of a text, as it stands beside what it is about.
func (f *footnotes) number(text string) string {
	i := slices.Index(f.texts, text)
	if i < 0 {
		i = len(f.texts)
		f.texts = append(f.texts, text)
	}
	return fmt.Sprintf("[%d]", i+1)
}

// marks returns the numbers of all that a reader must know to judge a row.
func (f *footnotes) marks(r *result.Row) string {
	var all []string
	for _, text := range rowNotes(r) {
		all = append(all, f.number(text))
	}
	return strings.Join(all, "")
}

// write renders what was called for since it was last called.
func (f *footnotes) write(w io.Writer) error {
	for ; f.written < len(f.texts); f.written++ {
		if _, err := fmt.Fprintf(w, "[%d] %s\n", f.written+1, f.texts[f.written]); err != nil {
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
		are := "are on none of their bricks"
		if r.Lost == 1 {
			are = "is on none of its bricks"
		}
		text := fmt.Sprintf("lost: %d of the acknowledged states %s", r.Lost, are)
		if n := r.Audit.Allowed; n > 0 {
			text += fmt.Sprintf(", which is allowed for %d: all of these had failed since", n)
		}
		notes = append(notes, text)
	}
	return append(notes, fold(r.Notes)...)
}

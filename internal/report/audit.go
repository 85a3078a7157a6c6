package report

import (
	"fmt"
	"io"

	"github.com/ssmctl/ssmctl/internal/result"
)

const auditWord = "audit: "

// auditText says what became of what was written, of all levels together; empty if there is
// nothing to say: no fault, and everything was found.
func auditText(r *result.Run) string {
	var all result.Audit
	for i := range r.Rows {
		all.Add(&r.Rows[i].Audit)
	}
	if all.Writes == 0 || (all.Clean() && len(r.Manifest.Plan.Faults) == 0) {
		return ""
	}
	return auditWord + all.String()
}

func writeAudit(w io.Writer, r *result.Run) error {
	text := auditText(r)
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

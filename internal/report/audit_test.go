package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/result"
)

// The audit of all levels is one line below the table when something was broken, or not
// everything was found.
func TestAuditLine(t *testing.T) {
	found := result.Audit{Writes: 10, Found: 9, Expired: 1}
	lost := result.Audit{Writes: 10, Found: 7, Lost: 3, Allowed: 2}
	for _, tt := range []struct {
		name   string
		audits [2]result.Audit
		faults []string
		want   string // empty: no line
	}{
		{"no audit, as in older runs", [2]result.Audit{}, []string{"kill:brick-1@1s"}, ""},
		{"all is well", [2]result.Audit{found, found}, nil, ""},
		{"a fault", [2]result.Audit{found, found}, []string{"kill:brick-1@1s"}, "audit: 20 writes read back: found 18, expired 2, lost 0 (allowed 0), stale 0, corrupt 0\n"},
		{"a loss", [2]result.Audit{found, lost}, nil, "audit: 20 writes read back: found 16, expired 1, lost 3 (allowed 2), stale 0, corrupt 0\n"},
	} {
		rows := curveRows("on", "aimd", pick(aimdShape, 1, 4))
		for i := range rows {
			rows[i].Audit, rows[i].Lost = tt.audits[i], tt.audits[i].Lost
		}
		run := fixture(t, rows)
		run.Manifest.Plan.Faults = tt.faults
		var table, page bytes.Buffer
		if err := Table(&table, []*result.Run{run}); err != nil {
			t.Fatal(err)
		}
		if err := HTML(&page, []*result.Run{run}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(table.String(), "audit: "); got != (tt.want != "") || !strings.Contains(table.String(), tt.want) {
			t.Errorf("%s: want %q in\n%s", tt.name, tt.want, &table)
		}
		if got := strings.Contains(page.String(), "writes read back"); got != (tt.want != "") {
			t.Errorf("%s: the page tells of it: %v", tt.name, got)
		}
		if note := "which is allowed for 2: "; strings.Contains(table.String(), note) != (tt.audits[1] == lost) {
			t.Errorf("%s: want the note %q for a loss alone in\n%s", tt.name, note, &table)
		}
	}
}

package result

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestAuditText(t *testing.T) {
	for text, a := range map[string]Audit{
		"9 writes read back: found 9, expired 0, lost 0 (allowed 0), stale 0, corrupt 0": {Writes: 9, Found: 9},
		"28 writes read back: found 1, expired 2, lost 3 (allowed 9), stale 4, corrupt 5, without an answer 6, not asked for 7": {
			Writes: 28, Found: 1, Expired: 2, Lost: 3, Stale: 4, Corrupt: 5, Unknown: 6, Unread: 7, Allowed: 9,
		},
	} {
		if a.String() != text {
			t.Errorf("%s, want %s", &a, text)
		}
	}
}

func TestAuditClean(t *testing.T) {
	for _, tt := range []struct {
		audit Audit
		want  bool
	}{
		{Audit{}, true},
		{Audit{Writes: 3, Found: 2, Expired: 1}, true},
		{Audit{Writes: 3, Found: 2, Lost: 1, Allowed: 1}, false},
		{Audit{Writes: 3, Found: 2, Unread: 1}, false},
	} {
		if got := tt.audit.Clean(); got != tt.want {
			t.Errorf("%+v is clean: %v", tt.audit, got)
		}
	}
}

// A row keeps its audit, and a row without one says nothing of it.
func TestAuditInRow(t *testing.T) {
	row := Row{Run: "r", Audit: Audit{Writes: 9, Found: 1, Expired: 1, Lost: 2, Stale: 1, Corrupt: 1, Unknown: 2, Unread: 1, Allowed: 2}}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	var again Row
	if err := json.Unmarshal(text, &again); err != nil || again.Audit != row.Audit {
		t.Errorf("%+v came back as %+v, error %v", row.Audit, again.Audit, err)
	}
	if text, err := json.Marshal(Row{}); err != nil || strings.Contains(string(text), "audit") {
		t.Errorf("%s, error %v", text, err)
	}
}

func TestAuditWithin(t *testing.T) {
	for _, tt := range []struct{ plan, want time.Duration }{{0, DefaultAudit}, {time.Minute, time.Minute}} {
		if got := (&Plan{Audit: tt.plan}).AuditWithin(); got != tt.want {
			t.Errorf("%v of %v, want %v", got, tt.plan, tt.want)
		}
	}
}

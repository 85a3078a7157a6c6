package report

import (
	"slices"
	"testing"
)

func TestFold(t *testing.T) {
	tests := []struct {
		name        string
		notes, want []string
	}{
		{"none", nil, []string{}},
		{
			"counts are summed",
			[]string{
				"brick-1 dropped 900 operations at arrival, its inbox full", "brick-1 refused 1 writes, its memory full",
				"brick-2 dropped 37000 operations at arrival, its inbox full", "brick-3 dropped 100 operations at arrival, its inbox full",
			},
			[]string{"brick-1 .. brick-3 dropped 38,000 operations at arrival, their inboxes full", "brick-1 refused 1 write, its memory full"},
		},
		{
			"in order, and only as far as in a row",
			[]string{"brick-10 refused 1 writes", "brick-2 refused 1 writes", "brick-1 refused 1 writes", "brick-9 refused 1 writes", "brick-8 refused 1 writes"},
			[]string{"brick-1, brick-2 and brick-8 .. brick-10 refused 5 writes"},
		},
		{
			"an instant is no count",
			[]string{"brick-down brick-1 at second 3.0", "brick-down brick-2 at second 3.0", "brick-down brick-3 at second 4.0", "brick-4 was down for 4 s", "brick-5 was down for 4 s"},
			[]string{"brick-down brick-1 and brick-2 at second 3.0", "brick-down brick-3 at second 4.0", "brick-4 and brick-5 were down for 4 s"},
		},
		{
			"of no brick, or of two",
			[]string{"the audit got no answer for 1 states", "the audit got no answer for 1 states", "brick-1 and brick-2 lost 1 states"},
			[]string{"the audit got no answer for 1 states", "the audit got no answer for 1 states", "brick-1 and brick-2 lost 1 states"},
		},
		{
			"how often is of each",
			[]string{
				"brick-1 died once and came back empty", "brick-2 died once and came back empty", "brick-3 died once and came back empty",
				"brick-4 died 2 times and came back empty", "brick-5 died 2 times and came back empty", "brick-7 died 3 times and came back empty",
			},
			[]string{
				"brick-1 .. brick-3 died once each and came back empty", "brick-4 and brick-5 died 2 times each and came back empty",
				"brick-7 died 3 times and came back empty",
			},
		},
		{"one stays one", []string{"brick-3 dropped 12 operations at arrival, its inbox full"}, []string{"brick-3 dropped 12 operations at arrival, its inbox full"}},
	}
	for _, tt := range tests {
		if got := fold(tt.notes); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got  %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 12345678: "12,345,678"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

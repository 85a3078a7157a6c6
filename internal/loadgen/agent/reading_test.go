package agent

import "testing"

func TestParseHostTime(t *testing.T) {
	for text, want := range map[string]hostTime{
		"cpu  10 1 5 80 4 0 2 3 7 7\ncpu0 1 2 3 4 5\n": {total: 105, idle: 84},
		"cpu  10 1 5 80 4\n":                           {total: 100, idle: 84},
		"cpu  10 1 5\n":                                {},
		"cpu  10 1 5 x 4\n":                            {},
		"intr 1 2 3 4 5 6\n":                           {},
		"":                                             {},
	} {
		if got := parseHostTime([]byte(text)); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestFlagsFirst(t *testing.T) {
	commands := newApp(strings.NewReader(""), io.Discard, io.Discard).Commands
	for given, want := range map[string]string{
		"report RUN --csv":                "report --csv RUN",
		"report RUN --out DIR --csv":      "report --out DIR --csv RUN",
		"report RUN --out=DIR RUN2":       "report --out=DIR RUN RUN2",
		"report --csv -- --csv":           "report --csv -- --csv",
		"report A --csv -- B":             "report --csv -- A B",
		"report A --out":                  "report --out A",
		"report A --bogus B":              "report --bogus A B",
		"report A -":                      "report A -",
		"brick logs 1 --lines 3":          "brick logs --lines 3 1",
		"brick bogus 1 --lines 3":         "brick bogus 1 --lines 3",
		"bogus A --csv":                   "bogus A --csv",
		"load --machines 4 --quiet extra": "load --machines 4 --quiet extra",
		"":                                "",
	} {
		got := flagsFirst(commands, append([]string{"ssmctl"}, strings.Fields(given)...))
		if !slices.Equal(got[1:], strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", given, got[1:], want)
		}
	}
}

package inventory

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// Parse reads an inventory in YAML. The name is that of its file: mistakes are told with
// it, and files that the inventory names are looked for beside it. What is wrong is an
// *Error that has every mistake; text that is no YAML has one only.
func Parse(name string, data []byte) (*Inventory, error) { return ParseFiles(name, data, nil) }

// ParseFiles is Parse with a look at each file that the inventory names: what that finds
// wrong is a mistake of the line. ~/ is not resolved in the paths that it is given.
func ParseFiles(name string, data []byte, look func(path string) error) (*Inventory, error) {
	r := &reader{dir: filepath.Dir(name), look: look}
	// Duplicates are for the reader to find, which goes on after the first.
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	switch {
	case err != nil:
		r.syntax(err)
	case len(file.Docs) > 1:
		r.failAt(lineOf(file.Docs[1].Start), "a second document: put all hosts into one")
	}
	inv := &Inventory{}
	if err == nil && len(file.Docs) > 0 {
		inv.Hosts = r.inventory(file.Docs[0].Body)
	}
	if len(r.mistakes) == 0 && len(inv.Hosts) == 0 {
		r.failAt(1, "no hosts: list them under hosts:")
	}
	if len(r.mistakes) > 0 {
		slices.SortStableFunc(r.mistakes, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
		// A command that is wrong for all hosts is one mistake.
		return nil, &Error{Name: name, Mistakes: slices.Compact(r.mistakes)}
	}
	return inv, nil
}

// syntax keeps the parser's one mistake.
func (r *reader) syntax(err error) {
	line, text := 1, err.Error()
	var at yaml.Error
	if errors.As(err, &at) {
		text = at.GetMessage()
		line = lineOf(at.GetToken())
	}
	text, _, _ = strings.Cut(text, "\n")
	r.failAt(line, "no YAML: %s", text)
}

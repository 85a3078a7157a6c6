package inventory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// reader walks over the nodes of an inventory and collects mistakes on the way.
type reader struct {
	dir      string                  // of the inventory
	look     func(path string) error // says what is wrong with a file; nil believes in all
	mistakes []Mistake
}

// field is a key of a mapping and what stands behind it.
type field struct {
	key   string
	line  int
	value ast.Node
}

func (r *reader) failAt(line int, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{Line: line, Text: fmt.Sprintf(format, args...)})
}

func (r *reader) fail(f field, format string, args ...any) {
	r.failAt(f.line, f.key+": "+format, args...)
}

// lineOf counts from 1; what has no place of its own is at the top.
func lineOf(t *token.Token) int {
	if t == nil || t.Position == nil {
		return 1
	}
	return t.Position.Line
}

// fields returns what a mapping has under the known keys, each once. No list of keys
// knows them all; ok is whether it is a mapping.
func (r *reader) fields(n ast.Node, line int, what string, known []string) (found []field, ok bool) {
	var pairs []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		r.failAt(line, "%s: write key: value, one per line", what)
		return nil, false
	}
	for _, pair := range pairs {
		f := field{key: keyText(pair.Key), line: lineOf(pair.Key.GetToken()), value: pair.Value}
		switch {
		case known != nil && !slices.Contains(known, f.key):
			r.failAt(f.line, "%s: no field %q: choose %s", what, f.key, strings.Join(known, ", "))
		case slices.ContainsFunc(found, func(other field) bool { return other.key == f.key }):
			r.failAt(f.line, "%s: %s stands here a second time: remove one", what, f.key)
		default:
			found = append(found, f)
		}
	}
	return found, true
}

func keyText(key ast.MapKeyNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	if t := key.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// text returns a single value as it was written; ok is whether there is one.
func (r *reader) text(f field) (text string, ok bool) {
	switch n := f.value.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = n.GetToken().Value
	case *ast.NullNode, nil:
		r.fail(f, "empty: give a value, or remove the line")
		return "", false
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		r.fail(f, "anchors, aliases and tags are not understood here: write the value")
		return "", false
	default:
		r.fail(f, "one value is wanted here")
		return "", false
	}
	if text == "" || strings.ContainsAny(text, "\x00\n\r") {
		r.fail(f, "%q: give a value on one line", text)
		return "", false
	}
	return text, true
}

// number returns a whole number within the bounds, or 0 with the mistake noted.
func (r *reader) number(f field, low, high int) int {
	text, ok := r.text(f)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		r.fail(f, "%q: a whole number from %d to %d is wanted", text, low, high)
		return 0
	}
	return n
}

func (r *reader) yes(f field) bool {
	text, ok := r.text(f)
	if ok && text != "true" && text != "false" {
		r.fail(f, "%q: choose true or false", text)
	}
	return text == "true"
}

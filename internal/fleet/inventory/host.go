package inventory

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// mostBricks is a bound against slips: far more bricks than a host has use for.
const mostBricks = 1000

// What goes into a command line must not be taken for an option there, nor be more than
// one word, whatever program reads it.
var (
	nameForm    = form{regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`), "letters, digits, dots, dashes and underscores"}
	addressForm = form{regexp.MustCompile(`^[A-Za-z0-9_:][A-Za-z0-9_:./%-]*$`), "a name or an address, without user, port and brackets"}
	userForm    = form{regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@\\-]*$`), "the name of a user"}
	cpusForm    = form{regexp.MustCompile(`^\d+(-\d+(:\d+)?)?(,\d+(-\d+(:\d+)?)?)*$`), "a list such as 0-3,8"}
	envName     = form{regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`), "the name of a variable: letters, digits and underscores"}
)

// form is what a word may look like, and how a mistake says so.
type form struct {
	is   *regexp.Regexp
	says string
}

func (r *reader) word(f field, form form) string {
	text, ok := r.text(f)
	if ok && !form.is.MatchString(text) {
		r.fail(f, "%q: %s", text, form.says)
		return ""
	}
	return text
}

// path returns a file as seen from where the inventory is read.
func (r *reader) path(f field) string {
	text, ok := r.text(f)
	if !ok {
		return text
	}
	if !filepath.IsAbs(text) && !strings.HasPrefix(text, "~/") {
		text = filepath.Join(r.dir, text)
	}
	if r.look != nil {
		if err := r.look(text); err != nil {
			r.fail(f, "%v", err)
		}
	}
	return text
}

// hostFields are the fields of a host, as a mistake lists them.
var hostFields = []string{
	"name", "bricks", "load", "address", "listen", "user", "port", "identity", "via", "binary", "env", "cpus",
}

// set puts a field into its host.
var set = map[string]func(r *reader, h *Host, f field){
	"name":     func(r *reader, h *Host, f field) { h.Name = r.word(f, nameForm) },
	"bricks":   func(r *reader, h *Host, f field) { h.Bricks = r.number(f, 0, mostBricks) },
	"load":     func(r *reader, h *Host, f field) { h.Load = r.yes(f) },
	"address":  func(r *reader, h *Host, f field) { h.Address = r.word(f, addressForm) },
	"listen":   func(r *reader, h *Host, f field) { h.Listen = r.word(f, addressForm) },
	"user":     func(r *reader, h *Host, f field) { h.User = r.word(f, userForm) },
	"port":     func(r *reader, h *Host, f field) { h.Port = r.number(f, 1, 65535) },
	"identity": func(r *reader, h *Host, f field) { h.Identity = r.path(f) },
	"via":      func(r *reader, h *Host, f field) { h.Via, _ = r.text(f) },
	"binary":   func(r *reader, h *Host, f field) { h.Binary = r.path(f) },
	"env":      func(r *reader, h *Host, f field) { h.Env = r.env(f) },
	"cpus":     func(r *reader, h *Host, f field) { h.CPUs = r.cpus(f) },
}

// cpus reads a list of processors whose ranges go upwards.
func (r *reader) cpus(f field) string {
	text := r.word(f, cpusForm)
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		high, _, _ = strings.Cut(high, ":")
		from, _ := strconv.Atoi(low)
		if to, err := strconv.Atoi(high); isRange && (err != nil || to < from) {
			r.fail(f, "%q: %s ends before it begins", text, part)
		}
	}
	return text
}

// inventory reads the whole document.
func (r *reader) inventory(body ast.Node) []Host {
	switch body.(type) {
	case nil, *ast.CommentGroupNode, *ast.NullNode:
		return nil // like a list without hosts
	}
	via := field{key: "via"}
	template := DefaultVia
	var list field
	fields, _ := r.fields(body, 1, "inventory", []string{"via", "hosts"})
	for _, f := range fields {
		if f.key == "hosts" {
			list = f
			continue
		}
		via = f
		if text, ok := r.text(f); ok {
			template = text
		}
	}
	if list.key == "" {
		return nil // Parse says so, if nothing else is wrong
	}
	entries, ok := list.value.(*ast.SequenceNode)
	if !ok {
		r.fail(list, "a list is wanted: - name: NAME begins each host")
		return nil
	}
	hosts := make([]Host, 0, len(entries.Values))
	byDefault := 0                                     // hosts that are reached by the template of all
	lines := make(map[string]int, len(entries.Values)) // of the hosts, by name
	for _, entry := range entries.Values {
		h := r.host(entry, via, template)
		if first, twice := lines[h.Name]; twice && h.Name != "" {
			r.failAt(h.Line, "name: %s is in line %d already: give each host a name of its own", h.Name, first)
		}
		lines[h.Name] = h.Line
		hosts = append(hosts, h)
		if h.Via == template {
			byDefault++
		}
	}
	told := slices.ContainsFunc(r.mistakes, func(m Mistake) bool { return m.Line == via.line })
	if byDefault > 1 && via.line > 0 && !told && !NamesHost(template) {
		r.failAt(via.line, "via: %s", OneForAll)
	}
	return hosts
}

// host reads an entry, whose way is that of all hosts unless it has one of its own.
func (r *reader) host(n ast.Node, via field, template string) Host {
	h := Host{Via: template, Line: firstLine(n)}
	before := len(r.mistakes)
	fields, ok := r.fields(n, h.Line, "host", hostFields)
	for _, f := range fields {
		set[f.key](r, &h, f)
		if f.key == "via" {
			via = f
		}
	}
	has := func(key string) bool {
		return slices.ContainsFunc(fields, func(f field) bool { return f.key == key })
	}
	if ok && !has("name") {
		r.failAt(h.Line, "a host without a name: give it name: NAME")
	}
	if ok && !has("bricks") && !has("load") {
		r.failAt(h.Line, "%s is for nothing: give it bricks: N, load: true, or both", nameOr(h.Name))
	}
	if h.Address == "" {
		h.Address = h.Name
	}
	if h.Listen == "" {
		h.Listen = h.Address
	}
	if via.line == 0 { // nobody has given one
		via.line = h.Line
	}
	r.way(&h, via.line, len(r.mistakes) > before)
	return h
}

// way checks the command that reaches a host. If the host is wrong otherwise, what it
// lacks is not held against it.
func (r *reader) way(h *Host, line int, wrong bool) {
	form := Host{Via: h.Via, Name: "x", Address: "x", User: "x", Port: 1, Identity: "x"}
	who := ""
	if _, _, err := form.Command(); err == nil && !wrong {
		form, who = *h, h.Name+": "
	}
	if _, _, err := form.Command(); err != nil {
		r.failAt(line, "via: %s%s", who, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

func nameOr(name string) string {
	if name == "" {
		return "the host"
	}
	return name
}

// firstLine is where an entry begins: the node of a mapping is placed at its first colon
// or later, its key is not.
func firstLine(n ast.Node) int {
	switch n := n.(type) {
	case nil:
		return 1
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return lineOf(n.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return lineOf(n.Key.GetToken())
	}
	return lineOf(n.GetToken())
}

func (r *reader) env(f field) map[string]string {
	env := make(map[string]string)
	variables, _ := r.fields(f.value, f.line, f.key, nil)
	for _, v := range variables {
		if !envName.is.MatchString(v.key) {
			r.failAt(v.line, "env: %q: %s", v.key, envName.says)
			continue
		}
		if v.value != nil && isEmptyString(v.value) {
			env[v.key] = ""
		} else if text, ok := r.text(v); ok {
			env[v.key] = text
		}
	}
	return env
}

// isEmptyString reports whether "" was written, which a variable may well be set to.
func isEmptyString(n ast.Node) bool {
	s, ok := n.(*ast.StringNode)
	return ok && s.Value == ""
}

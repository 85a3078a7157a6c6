package inventory

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
)

// placeholder finds what a template may name. Other braces are left as they are: many
// programs have a use of their own for them.
var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// NamesHost reports whether a template says which host is meant. One that does not always
// reaches the same place.
func NamesHost(via string) bool {
	return strings.Contains(via, "{host}") || strings.Contains(via, "{name}")
}

// OneForAll is what is wrong with a template of several hosts that does not say which is meant.
const OneForAll = "it names neither {host} nor {name}, and would reach the same place for every host"

// Command returns the words that run a program on the host: its template, split as a
// shell would, with the placeholders filled in. The program and its arguments follow.
// The target is the last word that named the host, or -1.
func (h *Host) Command() (words []string, target int, err error) {
	words, err = shellquote.Split(h.Via)
	if err != nil {
		return nil, -1, fmt.Errorf("%w: close the quotes", err)
	}
	if len(words) == 0 {
		return nil, -1, fmt.Errorf("it is empty: give a command such as %s", DefaultVia)
	}
	target = -1
	var errs []error
	for i, word := range words {
		if NamesHost(word) {
			target = i
		}
		// Splitting came first: a value with a blank in it stays one word.
		words[i] = placeholder.ReplaceAllStringFunc(word, func(name string) string {
			value, err := h.value(name)
			if err != nil {
				errs = append(errs, err)
			}
			return value
		})
	}
	return words, target, errors.Join(errs...)
}

// value is what a placeholder stands for.
func (h *Host) value(name string) (string, error) {
	values := map[string]string{
		"{host}": h.Address, "{name}": h.Name, "{user}": h.User, "{identity}": h.Identity, "{port}": "",
	}
	if h.Port != 0 {
		values["{port}"] = strconv.Itoa(h.Port)
	}
	value, known := values[name]
	switch {
	case !known:
		return "", fmt.Errorf("no %s: a command may name {host}, {name}, {user}, {port} and {identity}", name)
	case value == "":
		return "", fmt.Errorf("%s: the host has no %s: give it one", name, strings.Trim(name, "{}"))
	}
	return value, nil
}

package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

// engine is a program that knows hosts of its own: it is asked which there are.
type engine interface {
	// canonical is its source as it is recorded: the same wherever it is given.
	canonical() string
	// hosts returns how they are reached and which there are, in their order.
	hosts(ctx context.Context) (via string, hosts []member, err error)
	// roles say what the hosts are for.
	roles() roles
}

// member is a host of an engine.
type member struct{ name, address string }

// engines are told by the prefix of a source.
var engines = map[string]func(text string) (engine, error){
	"slurm": newSlurm,
	"k8s":   newKubernetes,
}

// engineOf returns the engine that a source names; nil if it is a file. What is wrong with
// the source is told with it.
func engineOf(source string) (engine, error) {
	prefix, text, found := strings.Cut(source, ":")
	parse := engines[prefix]
	if !found || parse == nil {
		return nil, nil
	}
	e, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return e, nil
}

// Source returns a source as it is recorded: the same however it is written, also by a
// symbolic link, and wherever it is used. Nobody is asked for hosts yet.
func Source(source string) (string, error) {
	e, err := engineOf(source)
	if err != nil {
		return "", err
	}
	if e != nil {
		return e.canonical(), nil
	}
	path, err := filepath.Abs(source)
	if err != nil {
		return "", err
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file, nil
	}
	return path, nil // what is wrong with it is told when it is read
}

// Inventory reads the hosts that a source names: the file of an inventory, or those of a
// scheduler, slurm:PARTITION or k8s:SELECTOR, as docs/hosts.md has it. Errors in the file are an
// *inventory.Error. If a scheduler has no answer, or no hosts, that is a *SourceError.
func Inventory(ctx context.Context, source string) (*inventory.Inventory, error) {
	e, err := engineOf(source)
	if err != nil {
		return nil, err
	}
	if e != nil {
		return ask(ctx, e)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, fmt.Errorf("hosts: %w: docs/hosts.md says how to write one", err)
	}
	return inventory.ParseFiles(source, text, lookForFile)
}

// lookForFile says what is wrong with a file that an inventory names.
func lookForFile(path string) error {
	info, err := os.Stat(expandHome(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no file %s", path)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a directory: name a file", path)
	}
	return nil
}

// entry is a host as an inventory has it.
type entry struct {
	Name    string `yaml:"name"`
	Address string `yaml:"address,omitempty"`
	Listen  string `yaml:"listen,omitempty"`
	Bricks  int    `yaml:"bricks,omitempty"`
	Load    bool   `yaml:"load,omitempty"`
}

// ask writes the inventory that a person would have written, and has it read like any
// other: the same rules hold for it.
func ask(ctx context.Context, e engine) (*inventory.Inventory, error) {
	source := e.canonical()
	via, members, err := e.hosts(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := e.roles().assign(members)
	if err != nil {
		return nil, &SourceError{Source: source, Err: err}
	}
	text, err := yaml.Marshal(struct {
		Via   string  `yaml:"via"`
		Hosts []entry `yaml:"hosts"`
	}{via, entries})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return inventory.Parse(source, text)
}

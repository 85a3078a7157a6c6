// Command corelint refuses go statements in the packages that must not start a
// goroutine: a core returns actions and its shell runs them. No linter offers this rule.
//
// It is run from the root of the module, reads source files only and prints findings in
// the form of a compiler's. Exit codes: 0 nothing found, 1 findings, 2 a file is unreadable.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The same packages as in .golangci.yml, below "cores-without-io".
var (
	cores = []string{
		"internal/session", "internal/protect", "internal/profile", "internal/chaos", "internal/watch",
		"internal/brick", "internal/stub", "internal/loadgen",
	}
	shells = []string{
		"internal/brick/brickd", "internal/brick/remote", "internal/stub/link",
		"internal/loadgen/agent", "internal/loadgen/coordinator", "internal/loadgen/message",
	}
)

func main() {
	found, err := check(os.DirFS("."))
	for _, f := range found {
		fmt.Println(f)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "corelint:", err)
		os.Exit(2)
	case len(found) > 0:
		os.Exit(1)
	}
}

// check returns a line for each go statement in a core below root.
func check(root fs.FS) (found []string, err error) {
	for _, core := range cores {
		err := fs.WalkDir(root, core, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || slices.Contains(shells, name)):
				return fs.SkipDir
			case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			lines, err := goStatements(root, name)
			found = append(found, lines...)
			return err
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

func goStatements(root fs.FS, name string) (found []string, err error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.FromSlash(name), text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if stmt, ok := n.(*ast.GoStmt); ok {
			found = append(found, fmt.Sprintf("%s: core: return actions, the shell runs them (corelint)", fset.Position(stmt.Pos())))
		}
		return true
	})
	return found, nil
}

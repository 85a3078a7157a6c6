package reach

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
)

// answerWithin bounds how long a scheduler is waited for: its tools have patience of their own.
const answerWithin = 30 * time.Second

// SourceError says why a scheduler has given no hosts.
type SourceError struct {
	Source string
	Line   string // the command that asked, ready to be run by hand; may be empty
	Stderr string // its last words
	Err    error
}

func (e *SourceError) Error() string {
	text := e.Source + ": "
	if e.Stderr != "" {
		text += strings.ReplaceAll(e.Stderr, "\n", "\n  ")
	} else {
		text += e.Err.Error()
	}
	if e.Line != "" {
		text += "\n  to see it again: " + e.Line
	}
	return text
}

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// query runs a program here and returns what it prints.
func query(ctx context.Context, source string, argv ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = outputWithin
	var out bytes.Buffer
	errs := &tail{}
	cmd.Stdout, cmd.Stderr = &out, errs
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	failed := &SourceError{Source: source, Line: shellquote.Join(argv...), Stderr: lastLines(errs.text()), Err: err}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failed.Err = fmt.Errorf("no answer within %s", answerWithin)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		failed.Err = fmt.Errorf("%s is not installed here", argv[0])
	}
	return nil, failed
}

// inOrder sorts hosts as people count: n2 before n10.
func inOrder(members []member) {
	slices.SortStableFunc(members, func(a, b member) int {
		aHead, aNumber := ordinal(a.name)
		bHead, bNumber := ordinal(b.name)
		return cmp.Or(cmp.Compare(aHead, bHead), cmp.Compare(aNumber, bNumber), cmp.Compare(a.name, b.name))
	})
}

// ordinal divides a name before the number at its end; -1 if it has none.
func ordinal(name string) (head string, number int) {
	head = strings.TrimRight(name, "0123456789")
	number, err := strconv.Atoi(name[len(head):])
	if err != nil {
		number = -1
	}
	return head, number
}

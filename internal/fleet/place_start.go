package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// maxTask bounds what is read of a Task: a profile, and keys for as many bricks as may be.
const maxTask = 16 << 20

// Task is StartOptions as they travel to a host, over standard input: they carry keys.
type Task struct {
	Count      int             `json:"count"`
	First      session.BrickID `json:"first"` // number of the first; the others follow
	Listen     string          `json:"listen"`
	Profile    profile.Profile `json:"profile"`
	Protection string          `json:"protection"`
	Memory     int64           `json:"memory_bytes"`
	Inbox      int64           `json:"inbox_bytes"`
	Plaintext  bool            `json:"plaintext,omitempty"`
	Keys       []secure.Keys   `json:"keys,omitempty"` // for each brick its own
}

func (t *Task) options() (o StartOptions, err error) {
	o = StartOptions{
		Count: t.Count, First: t.First, Listen: t.Listen, Profile: t.Profile,
		Memory: t.Memory, Inbox: t.Inbox, Plaintext: t.Plaintext, Keys: t.Keys,
	}
	if o.Protection, err = protect.ParseSetting(t.Protection); err != nil {
		return o, err
	}
	if o.Count < 1 {
		return o, errors.New("a task of no bricks")
	}
	return o, o.Profile.Validate()
}

// Started is a brick that has started, as machines read it.
type Started struct {
	ID      string `json:"id"`
	Addr    string `json:"address"`
	PID     int    `json:"pid"`
	Profile string `json:"profile"`
	Log     string `json:"log"`
}

// StartedOf returns the records without what is secret in them.
func StartedOf(records []Record) []Started {
	all := make([]Started, len(records))
	for i := range records {
		r := &records[i]
		all[i] = Started{ID: r.ID.String(), Addr: r.Addr, PID: r.PID, Profile: r.Profile.Name, Log: r.Log}
	}
	return all
}

// ErrNotKept is the error of bricks that were taken back because whoever asked for them
// went away, or could not start the others.
var ErrNotKept = errors.New("the bricks were not wanted after all: they are stopped")

// Perform starts the bricks of the Task that it reads, says which as a line of JSON, and
// waits for the word to keep them. Without it they are stopped again and the place is as it
// was: so bricks on many hosts start all or not at all, whenever the one who starts them dies.
func (p Place) Perform(ctx context.Context, in io.Reader, out io.Writer, notices func(string)) (err error) {
	if err := p.Validate(); err != nil {
		return err
	}
	lines := bufio.NewReader(io.LimitReader(in, maxTask))
	text, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	var task Task
	if err := json.Unmarshal(text, &task); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	o, err := task.options()
	if err != nil {
		return err
	}
	release, err := p.claim()
	if err != nil {
		return err
	}
	defer release()
	records, err := p.State(notices).Start(ctx, o)
	if err == nil {
		err = json.NewEncoder(out).Encode(StartedOf(records))
	}
	if err == nil {
		err = awaitKeep(ctx, lines)
	}
	var running *RunningError // they were there before: not ours to stop
	if err == nil || errors.As(err, &running) {
		return err
	}
	release() // the sweep removes what only a claim is left in
	_, sweepErr := p.Sweep(context.WithoutCancel(ctx), false)
	return errors.Join(err, sweepErr)
}

func awaitKeep(ctx context.Context, lines *bufio.Reader) error {
	kept := make(chan error, 1)
	go func() {
		word, err := lines.ReadString('\n')
		if word == KeepWord {
			err = nil
		} else if err == nil || errors.Is(err, io.EOF) {
			err = ErrNotKept
		}
		kept <- err
	}()
	select {
	case err := <-kept:
		return err
	case <-ctx.Done(): // the reader ends with the process
		return ctx.Err()
	}
}

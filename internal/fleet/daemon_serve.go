package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// The pipes that a brick's process inherits beside the standard three.
const (
	firstExtra = 3
	answerFD   = 3 // it says when it listens
	orderFD    = 4 // it is told what to be
)

// ErrNotStarted is the error of a brick's process that no ssmctl has started.
var ErrNotStarted = errors.New("this is what ssmctl brick start runs: run that instead")

// ServeDaemon is what a process does that Start has started: it is one brick until
// ctx ends, which returns nil. It survives the end of the terminal that it was started from.
func ServeDaemon(ctx context.Context, log io.Writer) error {
	signal.Ignore(syscall.SIGHUP)
	answers, err := inherited(answerFD)
	if err != nil {
		return err
	}
	pipe, err := inherited(orderFD)
	if err != nil {
		return err
	}
	orders := bufio.NewReader(pipe)
	text, err := orders.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	var o Order
	if err := json.Unmarshal(text, &o); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	ln, err := o.answer(answers)
	if err != nil {
		return err
	}
	if word, err := orders.ReadString('\n'); word != KeepWord {
		_ = ln.Close() // nobody has used it
		return fmt.Errorf("given up by the ssmctl that started it: %w", err)
	}
	_ = pipe.Close() // it was only read
	return o.serve(ctx, ln, slog.New(slog.NewTextHandler(log, nil)))
}

func inherited(fd uintptr) (*os.File, error) {
	f := os.NewFile(fd, "pipe")
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil, ErrNotStarted
	}
	return f, nil
}

// answer opens the brick's listener and says where it is, or why not.
func (o *Order) answer(to *os.File) (net.Listener, error) {
	var a answer
	ln, err := o.listen()
	if err != nil {
		a.Error = err.Error()
	} else {
		a.Addr = ln.Addr().String()
	}
	return ln, errors.Join(err, json.NewEncoder(to).Encode(a), to.Close())
}

func (o *Order) serve(ctx context.Context, ln net.Listener, log *slog.Logger) error {
	log = log.With("brick", o.ID.String())
	cfg, err := o.config(log)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	log.Info("serving", "addr", ln.Addr(), "profile", o.Profile.Name, "protection", o.Protection, "tls", o.Keys != nil, "pid", os.Getpid())
	err = brickd.New(cfg).Serve(ctx, ln)
	if err != nil {
		log.Error("stopped", "error", err)
	} else {
		log.Info("stopped")
	}
	return err
}

// config is the order as a brick takes it. The seed of its processor is its id.
func (o *Order) config(log *slog.Logger) (brickd.Config, error) {
	setting, err := protect.ParseSetting(o.Protection)
	return brickd.Config{
		ID: o.ID, Profile: o.Profile, Protection: setting, InboxBytes: int(o.Inbox), Memory: o.Memory,
		Seed: uint64(o.ID), Log: log,
	}, err
}

// listen opens the brick's listener, which lets in members alone if it has keys.
func (o *Order) listen() (net.Listener, error) {
	cfg, err := o.Keys.Server()
	if err != nil {
		return nil, err
	}
	ln, err := listen(o.Listen)
	if err != nil {
		return nil, err
	}
	return secure.Listen(ln, cfg), nil
}

// listen opens a listener. The error says what to do about a port that cannot be had.
func listen(addr string) (net.Listener, error) {
	ln, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		return ln, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w: choose another port, or 0 for a free one", err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("%w: choose a port above 1023, or 0 for a free one", err)
	default:
		return nil, fmt.Errorf("%w: choose another address", err)
	}
}

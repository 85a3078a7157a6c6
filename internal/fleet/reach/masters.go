package reach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	// perMaster is how many sessions share a connection: sshd takes 10 unless it is told
	// otherwise (MaxSessions), and beyond them each would dial for itself.
	perMaster = 8
	// persist is for how many seconds a connection without a session stays. It bounds what is
	// left of a run that was killed.
	persist = "30"
	// freshFor is when a connection without a session is no longer relied on.
	freshFor = 20 * time.Second
	// exitWithin bounds how long a connection that does not answer keeps Close from returning.
	exitWithin = 5 * time.Second
)

// masters are the connections to one host, each an ssh in the background that others
// find by its socket.
type masters struct {
	lock chan struct{} // held by having put something in: a wait for it ends with the context
	list []*master
	made int
}

// master is one of them. Its fields belong to the holder of the lock of its masters.
type master struct {
	socket   string
	sessions int
	used     time.Time // when the last session ended
}

// session is the right to run one command.
type session struct {
	m     *master // nil if not by openSSH
	leave func()  // of the gate or the master; may be called again
}

func (s *session) release() { s.leave() }

func (s *session) socket() string {
	if s.m == nil {
		return ""
	}
	return s.m.socket
}

// session waits until a command may be run. Where each command is a connection of its
// own it counts as a dial until it is released.
func (h *Host) session(ctx context.Context) (*session, error) {
	if h.form != openSSH {
		leave, err := h.way.pass(ctx)
		return &session{leave: leave}, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case h.masters.lock <- struct{}{}:
	}
	defer func() { <-h.masters.lock }()
	m, err := h.masters.take(ctx, h)
	if err != nil {
		return nil, err
	}
	m.sessions++
	return &session{m: m, leave: sync.OnceFunc(func() {
		h.masters.lock <- struct{}{}
		m.sessions--
		m.used = time.Now()
		<-h.masters.lock
	})}, nil
}

// take returns a connection with room for a session, a new one if there is none.
func (ms *masters) take(ctx context.Context, h *Host) (*master, error) {
	ms.list = slices.DeleteFunc(ms.list, func(m *master) bool {
		_, err := os.Lstat(m.socket) // a connection that has ended has removed it
		return err != nil || m.sessions == 0 && time.Since(m.used) > freshFor
	})
	if i := slices.IndexFunc(ms.list, func(m *master) bool { return m.sessions < perMaster }); i >= 0 {
		return ms.list[i], nil
	}
	if h.way.sockets.closed() {
		return nil, errClosed
	}
	ms.made++
	m := &master{socket: h.way.sockets.name(h, ms.made), used: time.Now()}
	if err := h.dial(ctx, m.socket); err != nil {
		return nil, err
	}
	ms.list = append(ms.list, m)
	return m, nil
}

// dial makes a connection, and sees on the way whether programs can be run behind it.
func (h *Host) dial(ctx context.Context, socket string) error {
	return retry(ctx, func() error {
		leave, err := h.way.pass(ctx)
		if err != nil {
			return err
		}
		defer leave()
		err = h.try(ctx, socket)
		var failed *CommandError
		if errors.As(err, &failed) && failed.cause.passing && jumps(h.sshConfig(ctx)) {
			// What a jump host has said is lost where there is a socket: ask again without.
			if plain := h.try(ctx, ""); plain != nil {
				return plain
			}
		}
		return err
	})
}

// try connects once, as the holder of the socket if there is one.
func (h *Host) try(ctx context.Context, socket string) error {
	argv, errs := []string{"true"}, &tail{}
	cmd := h.command(ctx, &session{m: &master{socket: socket}}, argv)
	cmd.Stderr = errs
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !isLeftOpen(err):
		return h.failure(argv, err, errs)
	}
	return nil
}

// endMasters ends what listens on the sockets of a directory.
func endMasters(dir string) {
	sockets, _ := filepath.Glob(filepath.Join(dir, "*")) // the pattern is right
	ctx, cancel := context.WithTimeout(context.Background(), exitWithin)
	defer cancel()
	var all sync.WaitGroup
	for batch := range slices.Chunk(sockets, mostDials) {
		for _, socket := range batch {
			all.Go(func() {
				// One that has ended already is no mistake, and there is nobody to tell.
				_ = exec.CommandContext(ctx, "ssh", "-o", "ControlPath="+socket, "-O", "exit", "any").Run()
			})
		}
		all.Wait()
	}
}

// socketName is short: the path of a socket has at most 104 bytes on some systems.
func socketName(host, master int) string { return fmt.Sprintf("%d-%d", host, master) }

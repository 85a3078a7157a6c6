package brickd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/clock"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

// HeartbeatEvery is how often a brick announces itself (SSM, NSDI 2004: every second).
const HeartbeatEvery = time.Second

// Config is what a brick is started with.
type Config struct {
	ID         session.BrickID
	Profile    profile.Profile
	Protection protect.Setting
	InboxBytes int   // 0 is brick.DefaultInboxBytes
	Memory     int64 // bytes of state; 0 is brick.DefaultMemory
	Seed       uint64
	Log        *slog.Logger // nil is none
}

// Server is a running brick.
type Server struct {
	cfg     Config
	delay   time.Duration // the emulated network, both ways, charged on the way back
	started time.Duration
	log     *slog.Logger

	mu      sync.Mutex // guards what follows
	queue   *brick.Queue
	peers   map[uint32]*peer
	lastID  uint32
	asleep  bool
	garbage uint64
	closed  bool

	wake chan struct{} // makes the processor look at the inbox again

	storeMu sync.Mutex // guards what follows; the processor takes it once a batch
	store   *brick.Store
	lag     lag

	values  pool
	readers sync.WaitGroup
}

// New returns a brick that does not listen yet.
func New(cfg Config) *Server {
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		cfg: cfg, log: log,
		delay:   2 * cfg.Profile.Network.OneWay,
		started: clock.Now(),
		store:   brick.NewStore(cfg.Memory),
		peers:   make(map[uint32]*peer),
		wake:    make(chan struct{}, 1),
		lag:     newLag(),
	}
	s.queue = brick.NewQueue(cfg.Profile.Processor, cfg.Protection, cfg.InboxBytes, s, cfg.Seed)
	return s
}

// Size implements brick.Sizer: the queue's question about the store.
func (s *Server) Size(r *session.Request) int {
	s.storeMu.Lock() // the order is mu before storeMu; nobody takes them the other way round
	defer s.storeMu.Unlock()
	return s.store.Size(r)
}

// Serve accepts connections until ctx ends, then closes them all and returns nil.
// It owns the listener.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var loops sync.WaitGroup
	loops.Go(func() { s.process(ctx) })
	loops.Go(func() { s.announce(ctx) })
	loops.Go(func() {
		<-ctx.Done()
		s.shut(ln)
	})
	err := s.accept(ctx, ln)
	cancel()
	loops.Wait()
	s.readers.Wait()
	return err
}

func (s *Server) accept(ctx context.Context, ln net.Listener) error {
	for {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			s.welcome(conn)
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		default: // out of descriptors, most likely: those there are go on
			s.log.Warn("accept", "error", err)
			if !pauseFor(ctx, 100*time.Millisecond) {
				return nil
			}
		}
	}
}

func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Server) shut(ln net.Listener) {
	if err := ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.log.Warn("close listener", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, p := range s.peers {
		p.close(net.ErrClosed)
	}
}

// announce sends a heartbeat to every peer once a second.
func (s *Server) announce(ctx context.Context) {
	tick := time.NewTicker(HeartbeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.broadcast()
		}
	}
}

func (s *Server) broadcast() {
	h := s.heartbeat(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		p.heartbeat(&h)
	}
}

// heartbeat describes the brick as it is now.
func (s *Server) heartbeat(seq uint32) wire.Heartbeat {
	h := wire.Heartbeat{Seq: seq, Brick: s.cfg.ID}
	s.storeMu.Lock()
	s.store.Elapse(clock.Now())
	s.store.Stats(&h.Stats)
	h.Stats.Lag, h.Stats.LagP99 = s.lag.worst, s.lag.p99()
	s.storeMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.Stats(&h.Stats)
	h.Setting = s.queue.Setting()
	h.Stats.Uptime = clock.Now() - s.started
	h.Stats.Connected, h.Stats.Garbage = uint64(len(s.peers)), s.garbage
	return h
}

// command carries out an order.
func (s *Server) command(c wire.Command) error {
	switch c.Verb {
	case wire.VerbStatus:
	case wire.VerbProtection:
		s.mu.Lock()
		s.queue.Set(c.Setting)
		s.mu.Unlock()
		s.log.Info("protection", "setting", c.Setting.String())
		s.broadcast()
	case wire.VerbReset:
		s.mu.Lock()
		s.queue.Reset(func(op brick.Op) { s.values.give(op.Value) })
		s.mu.Unlock()
		s.rouse() // it may be waiting for work that is gone
		s.storeMu.Lock()
		s.lag = newLag()
		s.storeMu.Unlock()
	default:
		return fmt.Errorf("%w: command %d", wire.ErrProtocol, c.Verb)
	}
	return nil
}

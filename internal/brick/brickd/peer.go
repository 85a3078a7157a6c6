package brickd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick"
	"github.com/ssmctl/ssmctl/internal/clock"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
)

// helloWithin is how long a connection may take to say what it is.
const helloWithin = 5 * time.Second

// peer is one connection.
type peer struct {
	id   uint32
	conn net.Conn
	out  *wire.Writer
}

func (p *peer) heartbeat(h *wire.Heartbeat) {
	if err := p.out.Append(func(b []byte) []byte { return wire.AppendHeartbeat(b, h) }); err != nil {
		p.close(err)
	}
}

func (p *peer) reply(r *session.Reply) {
	if err := p.out.Append(func(b []byte) []byte { return wire.AppendReply(b, r) }); err != nil {
		p.close(err)
	}
}

// close ends the connection; its reader and its writer return. It may be called
// more than once.
func (p *peer) close(why error) {
	p.out.Fail(why)
	_ = p.conn.Close() // the second time it is closed already
}

// welcome starts a connection's reader and writer.
func (s *Server) welcome(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close()
		return
	}
	s.lastID++
	p := &peer{id: s.lastID, conn: conn, out: wire.NewWriter()}
	s.peers[p.id] = p
	s.queue.Stubs(len(s.peers))
	s.readers.Go(func() {
		if err := p.out.Run(conn); err != nil {
			p.close(err)
		}
	})
	s.readers.Go(func() {
		err := s.read(p)
		s.farewell(p, err)
	})
}

func (s *Server) farewell(p *peer, err error) {
	p.close(err)
	s.mu.Lock()
	delete(s.peers, p.id)
	s.queue.Stubs(len(s.peers))
	bad := errors.Is(err, wire.ErrProtocol)
	if bad {
		s.garbage++
	}
	s.mu.Unlock()
	if bad {
		s.log.Warn("connection closed", "peer", p.conn.RemoteAddr(), "error", err)
	}
}

// read feeds the inbox from a connection until it ends.
func (s *Server) read(p *peer) error {
	in := wire.NewReader(p.conn)
	if err := s.greet(p, in); err != nil {
		return err
	}
	for {
		kind, body, err := in.Next()
		if err != nil {
			return err
		}
		if err := s.frame(p, kind, body); err != nil {
			return err
		}
	}
}

// greet waits for the hello and answers with the first sign of life.
func (s *Server) greet(p *peer, in *wire.Reader) error {
	if err := p.conn.SetReadDeadline(time.Now().Add(helloWithin)); err != nil {
		return err
	}
	kind, body, err := in.Next()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: %w", wire.ErrProtocol, err) // half a hello, or none in time
	case err != nil:
		return err // also of somebody who only looked whether the port is open
	case kind != wire.KindHello:
		return fmt.Errorf("%w: no hello", wire.ErrProtocol)
	}
	if err := wire.DecodeHello(body); err != nil {
		return err
	}
	h := s.heartbeat(0)
	p.heartbeat(&h)
	return p.conn.SetReadDeadline(time.Time{})
}

func (s *Server) frame(p *peer, kind wire.Kind, body []byte) error {
	switch kind {
	case wire.KindRequest:
		r, err := wire.DecodeRequest(body)
		if err != nil {
			return err
		}
		s.arrive(p, r)
		return nil
	case wire.KindCommand:
		c, err := wire.DecodeCommand(body)
		if err != nil {
			return err
		}
		if err := s.command(c); err != nil {
			return err
		}
		h := s.heartbeat(c.Seq)
		p.heartbeat(&h)
		return nil
	default:
		return fmt.Errorf("%w: a frame that only bricks send", wire.ErrProtocol)
	}
}

// arrive puts an operation into the inbox, with a copy of its value.
func (s *Server) arrive(p *peer, r session.Request) {
	if r.Value != nil {
		r.Value = s.values.copy(r.Value)
	}
	now := clock.Now()
	s.mu.Lock()
	kept := s.queue.Arrive(now, brick.Op{Request: r, From: p.id})
	rouse := s.asleep
	s.asleep = false
	s.mu.Unlock()
	if !kept {
		s.values.give(r.Value)
	}
	if rouse {
		s.rouse()
	}
}

// Package remote gives orders to a running brick and reads what it says of itself:
// what ssmctl's own commands and the coordinator of a load need, as opposed to the stubs.
package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// answerWithin is how long a brick may take to answer an order. Orders pass by
// the inbox, so a brick under overload answers as fast as an idle one.
const answerWithin = 3 * time.Second

// Brick is a brick and where it listens.
type Brick struct {
	ID   session.BrickID `json:"id"`
	Addr string          `json:"addr"` // host:port
}

// Error is what went wrong with one brick.
type Error struct {
	Brick Brick
	Err   error
}

func (e *Error) Error() string { return fmt.Sprintf("%s at %s: %v", e.Brick.ID, e.Brick.Addr, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Client gives orders to the bricks of one cluster. The zero value speaks plaintext.
type Client struct {
	tls *tls.Config
}

// NewClient returns a client that shows these keys; nil keys are plaintext.
func NewClient(keys *secure.Keys) (Client, error) {
	cfg, err := keys.Client()
	return Client{tls: cfg}, err
}

// Status asks a brick how it is.
func (c Client) Status(ctx context.Context, b Brick) (wire.Heartbeat, error) {
	return c.order(ctx, b, wire.Command{Verb: wire.VerbStatus})
}

// Protect sets a brick's protection; the brick tells its stubs at once. The
// heartbeat shows the setting in force after it.
func (c Client) Protect(ctx context.Context, b Brick, s protect.Setting) (wire.Heartbeat, error) {
	return c.order(ctx, b, wire.Command{Verb: wire.VerbProtection, Setting: s})
}

// Reset empties a brick's inbox. The heartbeat shows what is in it after that.
func (c Client) Reset(ctx context.Context, b Brick) (wire.Heartbeat, error) {
	return c.order(ctx, b, wire.Command{Verb: wire.VerbReset})
}

// All gives the same order to all bricks at once. It returns an answer for each,
// and the errors of those that gave none; an answer without an error is complete.
func All(ctx context.Context, bricks []Brick, give func(context.Context, Brick) (wire.Heartbeat, error)) ([]wire.Heartbeat, []error) {
	answers := make([]wire.Heartbeat, len(bricks))
	errs := make([]error, len(bricks))
	var wg sync.WaitGroup
	for i, b := range bricks {
		wg.Go(func() { answers[i], errs[i] = give(ctx, b) })
	}
	wg.Wait()
	var failed []error
	for _, err := range errs {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return answers, failed
}

// order gives one order over a connection of its own. The error is an *Error.
func (c Client) order(ctx context.Context, b Brick, cmd wire.Command) (wire.Heartbeat, error) {
	return c.orderWithin(ctx, answerWithin, b, cmd)
}

func (c Client) orderWithin(ctx context.Context, within time.Duration, b Brick, cmd wire.Command) (wire.Heartbeat, error) {
	limited, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("no answer within %v", within))
	defer cancel()
	h, err := c.exchange(limited, b, cmd)
	if err != nil && limited.Err() != nil { // the connection's own error only follows from it
		err = context.Cause(limited)
	}
	if err != nil {
		return wire.Heartbeat{}, &Error{Brick: b, Err: err}
	}
	return h, nil
}

// exchange says hello and gives the order once the right brick has answered: another's
// protection is not to be changed by an order that then fails.
func (c Client) exchange(ctx context.Context, b Brick, cmd wire.Command) (h wire.Heartbeat, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", b.Addr)
	if err != nil {
		return h, err
	}
	conn = secure.Client(conn, c.tls)
	defer func() { _ = conn.Close() }() // nothing is left unsaid
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if _, err := conn.Write(wire.AppendHello(nil)); err != nil {
		return h, err
	}
	in := wire.NewReader(conn)
	if h, err = next(in, b); errors.Is(err, io.EOF) {
		return h, fmt.Errorf("it closes the connection, as one does that is of another cluster: %w", err)
	} else if err != nil {
		return h, err
	}
	cmd.Seq = 1
	if _, err := conn.Write(wire.AppendCommand(nil, cmd)); err != nil {
		return h, err
	}
	for h.Seq != cmd.Seq && err == nil {
		h, err = next(in, b)
	}
	return h, err
}

// next reads a brick's next heartbeat.
func next(in *wire.Reader, b Brick) (h wire.Heartbeat, err error) {
	kind, body, err := in.Next()
	switch {
	case err != nil:
		return h, err
	case kind != wire.KindHeartbeat:
		return h, fmt.Errorf("%w: frame %d", wire.ErrProtocol, kind)
	}
	if h, err = wire.DecodeHeartbeat(body); err == nil && h.Brick != b.ID {
		err = fmt.Errorf("%s answers there", h.Brick)
	}
	return h, err
}

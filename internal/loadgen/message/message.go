// Package message is what the coordinator of a load and its agents say to each
// other: frames of JSON over an agent's standard input and output.
//
// Clocks are never compared. Seconds are numbered from the start, which the
// coordinator gives to all agents as a delay.
package message

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/session"
	"github.com/ssmctl/ssmctl/internal/wire/secure"
)

// Level tells an agent what its machines are to do. It answers Ready.
type Level struct {
	First    int              `json:"first"`    // number of its first machine
	Machines int              `json:"machines"` // how many are its own
	Threads  int              `json:"threads"`
	Size     int              `json:"size"`
	Quorum   session.Quorum   `json:"quorum"`
	Timeout  time.Duration    `json:"timeout"`
	Policy   string           `json:"policy"`
	Users    profile.Users    `json:"users"`
	Seed     uint64           `json:"seed"`
	Nonce    uint64           `json:"nonce"`
	Join     time.Duration    `json:"join"`
	Rate     float64          `json:"rate"` // attempts per second of one machine; 0 is a closed loop
	Warmup   time.Duration    `json:"warmup"`
	Seconds  int              `json:"seconds"` // measured
	Bricks   []remote.Brick   `json:"bricks"`
	Guests   []loadgen.Guests `json:"guests,omitempty"` // of its own, beside the machines
	// Silence is how long the coordinator may say nothing while users run, before the agent gives
	// up; 0 is any time. It says Here every second where this is set.
	Silence time.Duration `json:"silence,omitempty"`
	Room    int           `json:"room"`  // reads of the audit in flight at a time, of all its machines
	Audit   time.Duration `json:"audit"` // how long the audit may take
}

// Order is one frame to an agent: exactly one field is set.
type Order struct {
	Keys  *secure.Keys   `json:"keys,omitempty"` // by which bricks are spoken to from now on; without any, plaintext
	Level *Level         `json:"level,omitempty"`
	Start *time.Duration `json:"start,omitempty"` // begin after this delay
	Stop  bool           `json:"stop,omitempty"`  // end the level now; Ended follows
	Audit bool           `json:"audit,omitempty"` // read back; Done follows
	Here  bool           `json:"here,omitempty"`  // nothing is wanted: the coordinator is still there
	Ping  uint64         `json:"ping,omitempty"`  // answer with the same number at once
}

// Report is one frame from an agent: exactly one field is set.
type Report struct {
	Ready    *Ready             `json:"ready,omitempty"`
	Interval []loadgen.Interval `json:"interval,omitempty"`
	Ended    bool               `json:"ended,omitempty"` // nothing is in flight any more
	Done     *Done              `json:"done,omitempty"`
	Failed   string             `json:"failed,omitempty"` // the agent gives up, and why
	Brick    *Brick             `json:"brick,omitempty"`
	Pong     uint64             `json:"pong,omitempty"` // the number of a Ping
}

// Ready says that the machines have met their bricks, or waited long enough.
type Ready struct {
	Reachable int `json:"reachable"` // bricks that every machine has met
}

// Brick tells that a machine lost a brick, or found it again.
type Brick struct {
	ID     session.BrickID `json:"id"`
	Up     bool            `json:"up"`
	Second float64         `json:"second"`
}

// Done closes a level.
type Done struct {
	PerMachine []uint64      `json:"per_machine"` // ok attempts in the measured seconds
	Begun      uint64        `json:"begun"`       // writes sent out after the warm-up
	Sent       uint64        `json:"sent"`        // copies of those
	Writes     uint64        `json:"writes"`      // acknowledged writes
	Acked      uint64        `json:"acked"`       // copies of those acknowledged in time
	Audit      loadgen.Audit `json:"audit"`
	LagP99     time.Duration `json:"lag_p99"` // of the users' turns
	LagWorst   time.Duration `json:"lag_worst"`
	CPU        float64       `json:"cpu"`       // processor time over measured time
	Cores      int           `json:"cores"`     // of the host
	HostIdle   float64       `json:"host_idle"` // share of its cores' time in which nothing ran at all; below 0 if the system does not say
}

// maxFrame bounds a frame: a second's histograms at their longest and to spare.
const maxFrame = 64 << 20

// Writer sends frames. It is safe for concurrent use.
type Writer struct {
	mu  sync.Mutex
	dst io.Writer
}

// NewWriter returns a writer of frames.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// Write sends v as one frame.
func (w *Writer) Write(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	frame := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.dst.Write(append(frame, body...)); err != nil {
		return fmt.Errorf("send message: %w", err)
	}
	return nil
}

// Read receives one frame into v. At the end of the stream the error is io.EOF.
func Read(src io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(src, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return fmt.Errorf("receive message: %w", err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return fmt.Errorf("receive message: %d bytes, more than %d", n, maxFrame)
	}
	body, err := io.ReadAll(io.LimitReader(src, int64(n)))
	if err == nil && len(body) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("receive message: %w", err)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	return nil
}

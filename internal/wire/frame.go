package wire

import (
	"errors"
	"fmt"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// A frame is a 4-byte little-endian length of what follows, a kind byte, and the
// kind's body. The dialler's first frame is a Hello; the brick answers with its first Heartbeat.
const (
	lengthBytes = 4
	// MaxValue is the largest state, in bytes.
	MaxValue = 64 << 20
	// maxHead bounds what a frame carries beside a value.
	maxHead  = 512
	maxFrame = MaxValue + maxHead
)

// ProtocolVersion changes whenever a peer of the version before would misread a frame.
const ProtocolVersion = 2

// helloMagic opens every conversation, so that whatever is not a stub is known
// by its first bytes.
const helloMagic = "SSMw"

// Kind tells frames apart.
type Kind uint8

// The kinds. Hello, Request and Command go to a brick, the others come from it.
const (
	KindHello Kind = iota + 1
	KindRequest
	KindReply
	KindHeartbeat
	KindCommand
)

// Verb is what a Command asks of a brick.
type Verb uint8

// The verbs. Each is answered by a Heartbeat that carries the command's sequence
// number and shows the state after it.
const (
	VerbStatus     Verb = iota + 1 // only report
	VerbProtection                 // take on Command.Setting, and tell every stub at once
	VerbReset                      // empty the inbox, forget the worst lag
)

// Command is an order to a brick.
type Command struct {
	Seq     uint32
	Verb    Verb
	Setting protect.Setting
}

// Heartbeat is what a brick says of itself: to every connection once a second and
// whenever its protection changes, and in answer to a command.
type Heartbeat struct {
	Seq     uint32 // of the command that it answers; 0 for none
	Brick   session.BrickID
	Setting protect.Setting
	Stats   session.BrickStats
}

// ErrProtocol is the error of every frame that is not of this protocol.
var ErrProtocol = errors.New("not the protocol of a brick")

func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrProtocol, fmt.Sprintf(format, args...))
}

// A setting is a byte: its lowest bit is the window, the others are the queue rule.
func settingByte(s protect.Setting) byte {
	b := byte(s.Queue) << 1
	if s.Window {
		b |= 1
	}
	return b
}

func settingOf(b byte) (protect.Setting, error) {
	s := protect.Setting{Window: b&1 != 0, Queue: protect.Rule(b >> 1)}
	if s.Queue > protect.CoDel {
		return protect.Off, protocolError("protection %#x", b)
	}
	return s, nil
}

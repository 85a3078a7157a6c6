package session

import "time"

// Op is what a user asks of the store.
type Op uint8

// The two operations.
const (
	Write Op = iota
	Read
	NumOps = 2
)

// String returns "write" or "read".
func (o Op) String() string {
	if o == Write {
		return "write"
	}
	return "read"
}

// Request is one operation on its way from a stub to one brick.
type Request struct {
	ID      uint64 // the stub's own; returned in the reply
	Op      Op
	Key     Key
	Version Version
	Expiry  Expiry
	Sum     Checksum      // of the state; writes only
	TTL     time.Duration // how long the state still has to live; writes only
	Timeout time.Duration // how long the stub still waits, counted by the brick from arrival
	Value   []byte        // writes only; valid as long as its lender says
}

// Status is a brick's answer to a request.
type Status uint8

// The answers. The zero status is Done.
const (
	Done     Status = iota // written, or found
	NotFound               // no such state, or it has elapsed
	Full                   // the brick's memory bound is reached; nothing was written
	Corrupt                // the state's checksum did not match; it is not returned
	Busy                   // the brick is overloaded and did not look at the request
	NumStatuses
)

var statusNames = [NumStatuses]string{"done", "not found", "full", "corrupt", "busy"}

// String returns the status in words.
func (s Status) String() string {
	if s < NumStatuses {
		return statusNames[s]
	}
	return "unknown"
}

// Reply is a brick's answer on its way to the stub.
type Reply struct {
	ID     uint64
	Status Status
	Share  float32 // operations in flight that the brick offers each of its stubs
	Value  []byte  // of a read that found its state; valid as long as its lender says
}

// BrickStats is what a brick says of itself in every heartbeat. Counters run
// from the brick's start and never fall; a reader takes differences.
type BrickStats struct {
	Uptime     time.Duration // since the brick's start
	Sessions   uint64        // states held
	Bytes      uint64        // memory that holds them, bookkeeping included
	InboxLen   uint64        // operations waiting
	InboxBytes uint64        // memory that they wait in
	Connected  uint64        // connections open, whoever the peer is
	Writes     uint64        // writes served
	Reads      uint64        // reads served
	Discarded  uint64        // taken out of the inbox unserved: their time-out past, or refused as Busy
	Dropped    uint64        // dropped at arrival, the inbox full
	Full       uint64        // writes refused for want of memory
	Corrupt    uint64        // reads of a state whose checksum no longer matched
	Garbage    uint64        // connections closed for not speaking the protocol
	Elapsed    uint64        // states dropped because their time was over
	Share      float64       // operations in flight that the brick offers each of its stubs; no counter
	Lag        time.Duration // the worst delay of a reply past the instant its processor model gave it, since the last reset
	LagP99     time.Duration // 99 of 100 replies since the last reset were delayed by less
}

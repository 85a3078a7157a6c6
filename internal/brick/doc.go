// Package brick is the core of a brick: a bounded inbox and its rule before a model
// of a processor (Queue), and session state in tables by expiry (Store).
//
// It stands after wire on a request's way and before the reply. It does no I/O:
// brickd is the shell that feeds it from connections, and the simulator feeds it from its
// event queue. It imports session, protect and profile, never net, os or a clock.
//
// The two halves share nothing, so that a shell may guard the queue by a lock
// that readers take and leave the store to the one goroutine that serves.
package brick

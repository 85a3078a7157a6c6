// Package stub is the core of a stub, the part of the store that lives in an
// application server: it picks bricks, keeps a window for each, refuses at once when
// too few have room, counts answers to a quorum, and lets go of what takes too long.
//
// It stands between the users (loadgen) and the wire. It does no I/O and holds no
// queue: link is the shell that carries its sends over connections, and the simulator carries
// them over a model of a network. It imports session and protect, never net, os or a clock.
package stub

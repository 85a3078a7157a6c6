// Package chaos is the core of fault injection: what can be broken, how a fault is
// written down, and when it begins and ends. It breaks nothing itself; the simulator does so in
// virtual time.
//
// It is a leaf beside protect and knows no clock, socket or process.
package chaos

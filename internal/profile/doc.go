// Package profile names what a system under test is made of: the processor of a
// brick, the network before it, and the users' own times. A profile is data; the same
// profile drives live runs and simulated ones.
//
// It stands beside protect: brick, loadgen and the simulator read it; it imports only
// session. It reads no file: the caller brings the bytes.
package profile

// Package sim runs the brick, stub and user cores in virtual time, over a model of a
// network.
//
// It differs from a live run in one place: its event queue stands where fleet, wire and
// the clock stood. The same seed gives the same run, on any machine.
package sim

// Package search looks for faults in the cores by deterministic simulation testing: it
// draws systems and schedules of faults from seeds, runs each on the simulator's engine, and checks from
// outside that what the store promises holds. A case that breaks a promise is shrunk to a
// short one that breaks the same.
//
// It stands on sim and knows the cores by their types alone. It has no clock; goroutines
// run cases that are independent, and nothing else.
package search

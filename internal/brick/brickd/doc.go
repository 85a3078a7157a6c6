// Package brickd is the shell of a brick: a server that feeds the core of package
// brick from connections and carries its replies back.
//
// One reader a connection feeds the inbox; one goroutine is the processor; one
// writer a connection batches what is ready.
package brickd

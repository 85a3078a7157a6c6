// Package fleet is where bricks and load agents run: bricks as daemons of this
// machine or inside this process, agents as child processes.
//
// It stands between the commands and the shells brickd and agent. It imports brick and
// wire, never cmd.
package fleet

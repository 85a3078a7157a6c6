// Package loadgen is the core of the load: the hyperactive user, the machine that
// holds a stub and its users, the plan of levels, and the recorder of what happened.
//
// It stands where a run begins: plan -> machines -> stub -> wire -> brick -> recorder.
// It does no I/O; agent is the shell that runs machines over connections, coordinator the one that
// runs agents and writes the run down, and the simulator runs the same machines in virtual
// time. It imports stub, result, protect, profile and session.
package loadgen

// Package cluster makes and ends what ssmctl runs on many hosts: the bricks of a
// cluster, and the agents of a load.
//
// It stands on reach, which runs ssmctl's own commands on a host, and on fleet, which does
// the work there. What it makes is recorded here before anything starts there, so that it
// can be ended from the record alone. It never imports cmd or loadgen.
package cluster

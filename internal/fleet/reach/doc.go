// Package reach runs programs on the hosts of an inventory, by a command that gives them
// standard input and output: ssh, or any other.
//
// It stands between inventory, which says how a host is reached, and whoever has
// something to run there. It imports inventory only, and knows nothing of bricks and load.
package reach

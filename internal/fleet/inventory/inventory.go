// Package inventory reads which hosts there are, what each is for and how it is
// reached.
//
// It is the first step of a run on many hosts: an inventory goes to reach, which runs
// programs there. It is pure: text in, hosts or mistakes out. It imports nothing of this
// module, and neither os nor net.
package inventory

import (
	"fmt"
	"strings"
)

// DefaultVia is how a host is reached of which the inventory says nothing else.
const DefaultVia = "ssh {host}"

// Inventory is what Parse has read, in the order of the file.
type Inventory struct {
	Hosts []Host
}

// Host is a place where ssmctl can be run with standard input and output. Defaults are
// filled in.
type Host struct {
	Name    string // unique in its inventory
	Address string // what {host} becomes and what stubs dial; the name if not given
	Listen  string // where its bricks listen; the address if not given
	Via     string // command template of the way there
	// For the way, and empty or 0 if not given.
	User     string
	Port     int
	Identity string // file of a private key; ~/ is for the reader to resolve
	// Binary is the file of the ssmctl for this host; empty is the running one.
	Binary string
	Env    map[string]string // of the ssmctl that runs there
	CPUs   string            // it is pinned to, as taskset -c takes them; empty is all
	Bricks int               // how many start here
	Load   bool              // whether load machines run here
	Line   int               // of its entry
}

// Mistake is something in an inventory that cannot be.
type Mistake struct {
	Line int // from 1
	Text string
}

// Error is all the mistakes of one inventory, in the order of their lines.
type Error struct {
	Name     string // of the file
	Mistakes []Mistake
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = fmt.Sprintf("%s:%d: %s", e.Name, m.Line, m.Text)
	}
	return strings.Join(lines, "\n")
}

// BrickHosts returns the hosts on which bricks start.
func (inv *Inventory) BrickHosts() []Host {
	return inv.where(func(h *Host) bool { return h.Bricks > 0 })
}

// LoadHosts returns the hosts that take load machines.
func (inv *Inventory) LoadHosts() []Host {
	return inv.where(func(h *Host) bool { return h.Load })
}

func (inv *Inventory) where(is func(*Host) bool) []Host {
	var hosts []Host
	for i := range inv.Hosts {
		if is(&inv.Hosts[i]) {
			hosts = append(hosts, inv.Hosts[i])
		}
	}
	return hosts
}

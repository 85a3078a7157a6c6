package main

import (
	"strings"

	"github.com/ssmctl/ssmctl/internal/fleet/cluster"
	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/result"
)

// fleetHost is a host as a manifest has it: without values that might be secret.
func fleetHost(h *inventory.Host) result.FleetHost {
	f := result.FleetHost{
		Name: h.Name, Address: h.Address, Listen: h.Listen, Via: h.Via, User: h.User, Port: h.Port,
		Identity: h.Identity, Binary: h.Binary, CPUs: h.CPUs,
	}
	for name, value := range h.Env {
		if !harmless(name) {
			value = ""
		}
		if f.Env == nil {
			f.Env = make(map[string]string)
		}
		f.Env[name] = value
	}
	return f
}

// harmless reports whether a variable is one that shapes a measurement or says where files
// are, and so is kept with its value.
func harmless(name string) bool {
	switch name {
	case "HOME", "TMPDIR", "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG":
		return true
	}
	return strings.HasPrefix(name, "XDG_")
}

// manifestRecord makes a record from a manifest, for what is left when the record itself is lost.
func manifestRecord(m *result.Manifest) *cluster.Record {
	r := &cluster.Record{ID: m.Run, Run: m.Run, Source: m.Fleet.Inventory, Made: m.Started, Profile: m.Profile}
	for _, f := range m.Fleet.Hosts {
		host := inventory.Host{
			Name: f.Name, Address: f.Address, Listen: f.Listen, Via: f.Via, User: f.User, Port: f.Port,
			Identity: f.Identity, Binary: f.Binary, CPUs: f.CPUs, Bricks: len(f.Bricks), Load: f.Agents > 0,
		}
		for name, value := range f.Env {
			if value == "" {
				continue // it was not kept
			}
			if host.Env == nil {
				host.Env = make(map[string]string)
			}
			host.Env[name] = value
		}
		r.Hosts = append(r.Hosts, cluster.Host{Host: host})
	}
	return r
}

package result

import (
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
)

// FormatVersion is the version of everything in a run directory. It rises when a
// reader of the old one would misread the new one; docs/formats.md has the history.
const FormatVersion = 1

// The modes of a run.
const (
	Live = "live" // real bricks, a real network, real time
	Sim  = "sim"  // the same cores under virtual time
)

// Manifest says what was measured, with what and on what. It is written once,
// before the first level. That of a simulated run says nothing of the machine it was made
// on, nor when: the same plan gives the same manifest.
type Manifest struct {
	FormatVersion int             `json:"format_version"` // set by Create
	Run           string          `json:"run"`            // the directory's name; given by Create if empty
	Mode          string          `json:"mode"`           // Live or Sim
	Plan          Plan            `json:"plan"`
	Profile       profile.Profile `json:"profile"` // as it was in force, not only its name
	Parameters    []Parameter     `json:"parameters,omitempty"`
	Version       string          `json:"version"`                 // of ssmctl
	BinarySHA256  string          `json:"binary_sha256,omitempty"` // in hex; a run is resumed by the same binary alone
	Hosts         []string        `json:"hosts,omitempty"`         // of the load
	Fleet         *Fleet          `json:"fleet,omitempty"`         // of a load on other machines
	Kernel        string          `json:"kernel,omitempty"`
	CPU           string          `json:"cpu,omitempty"`
	Cores         int             `json:"cores,omitempty"`
	Go            string          `json:"go,omitempty"`
	Started       time.Time       `json:"started,omitzero"` // the coordinator's clock; gives the directory its name
}

// Fleet is where a load on other machines ran. What is secret in its inventory is not here.
type Fleet struct {
	Inventory string      `json:"inventory"` // its file
	OwnBricks bool        `json:"own_bricks,omitempty"`
	Hosts     []FleetHost `json:"hosts"` // those with bricks that were there before are not
}

// FleetHost is one of them.
type FleetHost struct {
	Name     string            `json:"name"`
	Address  string            `json:"address"`
	Listen   string            `json:"listen,omitempty"`
	Via      string            `json:"via"`
	User     string            `json:"user,omitempty"`
	Port     int               `json:"port,omitempty"`
	Identity string            `json:"identity,omitempty"` // the file of a key
	Binary   string            `json:"binary,omitempty"`
	CPUs     string            `json:"cpus,omitempty"`
	Env      map[string]string `json:"env,omitempty"` // a value is empty where it might be a secret
	OS       string            `json:"os,omitempty"`
	Arch     string            `json:"arch,omitempty"`
	Kernel   string            `json:"kernel,omitempty"`
	Cores    int               `json:"cores,omitempty"` // that ssmctl may use
	Bricks   []FleetBrick      `json:"bricks,omitempty"`
	Agents   int               `json:"agents,omitempty"`
}

// FleetBrick is a brick and where it listens.
type FleetBrick struct {
	ID   string `json:"id"`
	Addr string `json:"address"`
}

// Parameter is one figure that shaped the run, and where it comes from.
type Parameter struct {
	Name   string `json:"name"`   // as a flag or a profile names it
	Value  string `json:"value"`  // with its unit
	Source string `json:"source"` // in words: flag, default, published, derived, chosen to fit
}

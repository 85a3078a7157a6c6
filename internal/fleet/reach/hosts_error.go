package reach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// HostsError lists the hosts that cannot be used as they are, those with unknown keys together.
type HostsError struct {
	Of       int             // hosts in all
	Failures []error         // in the order of the inventory; most are *CommandError
	Unknown  []*CommandError // those of the failures that are for want of a host key
	others   []error         // the rest of them
	accept   []string        // lines to run
}

func (e *HostsError) Error() string {
	text := fmt.Sprintf("%d of %d hosts are not ready", len(e.Failures), e.Of)
	for _, err := range e.others {
		text += "\n" + err.Error()
	}
	if len(e.Unknown) == 0 {
		return text
	}
	names := make([]string, len(e.Unknown))
	for i, u := range e.Unknown {
		names[i] = u.Host
	}
	return text + fmt.Sprintf("\nunknown host keys: %s: fetch them, compare ssh-keygen -lf of the file with what the hosts' owners say, then append it to known_hosts; or say yes to each:\n  %s",
		strings.Join(names, ", "), strings.Join(e.accept, "\n  "))
}

// Unwrap returns the failures.
func (e *HostsError) Unwrap() []error { return e.Failures }

// hostsError puts failures together, one per host or nil. Nothing failed is nil.
func hostsError(ctx context.Context, w *Way, failures []error) error {
	e := &HostsError{Of: len(w.hosts)}
	scans := newScans()
	var byHand []string
	for i, err := range failures {
		if err == nil {
			continue
		}
		e.Failures = append(e.Failures, err)
		var failed *CommandError
		if errors.As(err, &failed) && failed.cause.key {
			e.Unknown = append(e.Unknown, failed)
			scans.add(ctx, w.hosts[i])
			byHand = append(byHand, w.hosts[i].byHand())
		} else {
			e.others = append(e.others, err)
		}
	}
	if len(e.Failures) == 0 {
		return nil
	}
	e.accept = append(scans.lines(), byHand...)
	return e
}

// byHand is how a person meets the host: the way itself, which then asks.
func (h *Host) byHand() string {
	words := slices.Clone(h.words)
	if h.form == openSSH {
		var options []string
		for _, o := range h.sshOptions() {
			if o == "-T" {
				break // what follows is for when nobody is there
			}
			options = append(options, o)
		}
		words = slices.Insert(words, max(h.target, 1), options...)
	}
	return shellquote.Join(append(words, "true")...)
}

// scans collects addresses for ssh-keyscan, a line for each port.
type scans struct {
	ports []string
	hosts map[string][]string
}

func newScans() *scans { return &scans{hosts: make(map[string][]string)} }

// add takes a host, unless it is behind another: that cannot be scanned from here.
func (s *scans) add(ctx context.Context, h *Host) {
	config := h.sshConfig(ctx)
	if config == nil || jumps(config) {
		return
	}
	port := config["port"]
	if !slices.Contains(s.ports, port) {
		s.ports = append(s.ports, port)
	}
	s.hosts[port] = append(s.hosts[port], config["hostname"])
}

func (s *scans) lines() []string {
	lines := make([]string, len(s.ports))
	for i, port := range s.ports {
		lines[i] = fmt.Sprintf("ssh-keyscan -p %s %s >new_hosts", port, strings.Join(s.hosts[port], " "))
	}
	return lines
}

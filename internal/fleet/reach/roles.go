package reach

import (
	"fmt"
	"strconv"
	"strings"
)

// defaultBricks is as many as a load on one machine starts for itself.
const defaultBricks = 8

// brickShare is which part of the hosts has bricks if nothing else is said: one in three.
const brickShare = 3

// roles say what the hosts of an engine are for. 0 is: not given.
type roles struct {
	bricks     int // on all hosts together
	brickHosts int // the first so many have them
	loadHosts  int // the next so many, or else the last, take load
	listen     string
}

// options reads KEY=VALUE,... with the keys of all engines, and those of this one.
func (r *roles) options(text string, own map[string]*string) error {
	numbers := map[string]*int{"bricks": &r.bricks, "brick-hosts": &r.brickHosts, "load-hosts": &r.loadHosts}
	words := map[string]*string{"listen": &r.listen}
	for key, place := range own {
		words[key] = place
	}
	if text == "" {
		return nil
	}
	seen := make(map[string]bool)
	for option := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(option, "=")
		number, word := numbers[key], words[key]
		switch {
		case number == nil && word == nil:
			return fmt.Errorf("no option %q: choose among bricks=N, brick-hosts=N, load-hosts=N, %s", option, wordOptions(own))
		case seen[key]:
			return fmt.Errorf("%s stands there a second time: remove one", key)
		case word != nil && value == "":
			return fmt.Errorf("%s: empty: give a value", key)
		case word != nil:
			*word = value
		default:
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("%s: %q: a whole number from 1 is wanted", key, value)
			}
			*number = n
		}
		seen[key] = true
	}
	return nil
}

// wordOptions lists the options that are words, for a mistake.
func wordOptions(own map[string]*string) string {
	text := "listen=ADDRESS"
	for _, key := range []string{"namespace", "container"} {
		if own[key] != nil {
			text += ", " + key + "=NAME"
		}
	}
	return text
}

// assign gives each host its role: the first have the bricks, spread evenly, and those
// behind them take the load. A host alone is for both. Hosts that are for nothing are left out.
func (r roles) assign(members []member) ([]entry, error) {
	n := len(members)
	if r.brickHosts == 0 {
		r.brickHosts = max((n+brickShare-1)/brickShare, 1)
		if r.loadHosts > 0 && r.loadHosts < n {
			r.brickHosts = min(r.brickHosts, n-r.loadHosts)
		}
	}
	if r.loadHosts == 0 {
		r.loadHosts = max(n-r.brickHosts, 1)
	}
	if most := max(r.brickHosts, r.loadHosts); most > n {
		return nil, fmt.Errorf("%d hosts are wanted, and it has %d", most, n)
	}
	if r.bricks == 0 {
		r.bricks = max(defaultBricks, r.brickHosts)
	}
	if r.bricks < r.brickHosts {
		return nil, fmt.Errorf("bricks=%d: not one for each of %d hosts: raise it, or lower brick-hosts", r.bricks, r.brickHosts)
	}
	end := min(n, r.brickHosts+r.loadHosts)
	entries := make([]entry, end)
	for i, m := range members[:end] {
		entries[i] = entry{Name: m.name, Address: m.address, Load: i >= end-r.loadHosts}
		if i < r.brickHosts {
			entries[i].Bricks = r.bricks / r.brickHosts
			if i < r.bricks%r.brickHosts {
				entries[i].Bricks++
			}
			entries[i].Listen = r.listen
		}
	}
	return entries, nil
}

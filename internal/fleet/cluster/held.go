package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// RecordOf is a record of everything that hosts may have of a cluster of which none is kept here.
func RecordOf(id, source string, hosts []inventory.Host) *Record {
	r := &Record{ID: id, Source: source}
	for _, h := range hosts {
		r.Hosts = append(r.Hosts, Host{Host: h})
	}
	return r
}

// Held asks hosts which clusters have a place on them, and returns the hosts of each by its
// ID. The error is of the hosts that gave no answer.
func Held(ctx context.Context, hosts []inventory.Host, notices func(string)) (map[string][]inventory.Host, error) {
	held := make(map[string][]inventory.Host)
	var mu sync.Mutex
	err := visit(ctx, hosts, notices, func(i int, h *reach.Host) error {
		out, err := h.Ssmctl(ctx, nil, "sweep", "--list", "--host", h.Name)
		if err != nil {
			return err
		}
		var ids []string
		if err := json.Unmarshal(out, &ids); err != nil {
			return fmt.Errorf("the answer of ssmctl sweep: %w", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			held[id] = append(held[id], hosts[i])
		}
		return nil
	})
	return held, err
}

// Uncache removes all copies of ssmctl that shipping has left on hosts.
func Uncache(ctx context.Context, hosts []inventory.Host, notices func(string)) error {
	return visit(ctx, hosts, notices, func(_ int, h *reach.Host) error { return h.Uncache(ctx) })
}

// visit does something on hosts of which nothing is recorded.
func visit(ctx context.Context, hosts []inventory.Host, notices func(string), do func(int, *reach.Host) error) error {
	c := &Cluster{Record: *RecordOf("", "", hosts)}
	if err := c.open(notices); err != nil {
		return err
	}
	err := c.each(ctx, c.all(), do)
	return errors.Join(err, c.Close())
}

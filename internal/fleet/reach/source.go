package reach

import (
	"context"
	"fmt"
	"os"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

// Inventory reads the hosts that a source names: the file of an inventory. Errors in the
// file are an *inventory.Error.
//
// Sources that ask another program for their hosts belong here too: they are told by a
// prefix, and turn into the same hosts.
func Inventory(_ context.Context, source string) (*inventory.Inventory, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, fmt.Errorf("hosts: %w: docs/hosts.md says how to write one", err)
	}
	return inventory.Parse(source, text)
}

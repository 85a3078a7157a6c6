package main

import (
	"encoding/json"

	"github.com/urfave/cli/v2"
)

// printJSON prints a result as people can read it too.
func printJSON(c *cli.Context, result any) error {
	out := json.NewEncoder(c.App.Writer)
	out.SetIndent("", "  ")
	return out.Encode(result)
}

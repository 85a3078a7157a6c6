package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Grid is a table of text, as every command prints it. Numbers stand right, words left.
type Grid struct {
	Header []string // may have line feeds; the last line is the unit
	Left   []bool   // columns of words; missing ones are numbers
	rows   [][]string
}

// Add appends a row.
func (g *Grid) Add(cells ...string) { g.rows = append(g.rows, cells) }

// Write renders without borders and without blanks at the ends of lines.
func (g *Grid) Write(w io.Writer) error {
	align := make([]tw.Align, len(g.Header))
	for i := range align {
		align[i] = tw.AlignRight
		if i < len(g.Left) && g.Left[i] {
			align[i] = tw.AlignLeft
		}
	}
	var text strings.Builder
	t := tablewriter.NewTable(&text,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleASCII),
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.On},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align),
		tablewriter.WithPadding(tw.Padding{Right: "  ", Overwrite: true}),
	)
	t.Header(g.Header)
	if err := t.Bulk(g.rows); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	var out strings.Builder
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(&out, strings.TrimRight(line, " \n"))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) goldenRepair() *cobra.Command {
	drop := false
	c := p.command(&cobra.Command{
		Use:   "repair --drop [FILE] [flags]",
		Short: "Keep all that is whole of a damaged golden",
		Long: `Repair writes a golden of all cases that are whole: those whose row is as it was
written, and all of whose contents are what their digests say. It names the cases that it
drops. The damaged file is kept as FILE.damaged; where there is one already, repair
refuses.

Repair needs a file that SQLite can open: it can do nothing for a golden that is cut off,
nor for one whose header, tables or description (command and flags) are damaged. It cannot
name cases on a page that cannot be read. In a golden of format 1 it cannot tell whether
names and costs are right.`,
		Example: "  muster golden repair --drop",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		if !drop {
			return usagef("golden repair drops cases that are damaged: say so with --drop, or look first with muster golden check")
		}
		takeGolden(o, args)
		return regress.GoldenRepair(c.Context(), *o)
	})
	c.Flags().BoolVar(&drop, "drop", false, "drop the cases that hang on something damaged")
	return c
}

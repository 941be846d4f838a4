package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
)

func (p *program) goldenRepair() *cobra.Command {
	drop := false
	c := p.command(&cobra.Command{
		Use:   "repair --drop [FILE] [flags]",
		Short: "Keep the whole cases of a damaged golden",
		Long: `Repair writes a golden of all whole cases: their row is undamaged, and all their
contents match their digests. It names the cases that it drops. It keeps the damaged file
as FILE.damaged, and refuses if that file exists already.

Repair needs a file that SQLite can open. It cannot repair a golden that is cut off, or
whose header, tables or description (command and flags) are damaged. It cannot name cases
on a page that cannot be read. In a golden of format 1 it cannot check names and costs.`,
		Example: "  muster golden repair --drop",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		if !drop {
			return usagef("golden repair drops damaged cases: confirm that with --drop, or look first with muster golden check")
		}
		takeGolden(o, args)
		return goldens.Repair(c.Context(), *o, newHost(p))
	})
	c.Flags().BoolVar(&drop, "drop", false, "drop the damaged cases")
	return c
}

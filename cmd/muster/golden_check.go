package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
)

func (p *program) goldenCheck() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "check [FILE] [flags]",
		Short: "Read a whole golden and report damage",
		Long: `Check reads every content of a golden, its lists and its pages. It prints each
content that does not match its digest, with the cases that use it. The exit status is 0
if the golden is whole and 2 if it is damaged. Other commands read only the contents that
they need.`,
		Example: "  muster golden check\n  muster golden check backup.golden",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		takeGolden(o, args)
		return goldens.Check(c.Context(), *o, newHost(p))
	})
}

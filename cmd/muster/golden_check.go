package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) goldenCheck() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "check [FILE] [flags]",
		Short: "Read all of a golden, and say what is damaged",
		Long: `Check reads every content of a golden, its lists and its pages. It prints each
content that is not what its digest says, with the cases that hang on it. The exit
status is 0 when all is whole and 2 when something is damaged. Other commands read only
what they need.`,
		Example: "  muster golden check\n  muster golden check backup.golden",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		takeGolden(o, args)
		return regress.GoldenCheck(c.Context(), *o)
	})
}

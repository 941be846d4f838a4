package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) goldenInfo() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "info [FILE] [flags]",
		Short: "Say who recorded a golden, with what, and what it takes",
		Long: `Info prints which tool and corpus a golden was recorded with, when and on which
machine, what the record selected, how many cases there are and how many of them are
flaky, who accepted what since, and the sizes of the file and of its contents.`,
		Example: "  muster golden info\n  muster golden info old.golden --format json",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags, formatFlag}, func(c *cobra.Command, o *regress.Options, args []string) error {
		takeGolden(o, args)
		return regress.GoldenInfo(c.Context(), *o)
	})
}

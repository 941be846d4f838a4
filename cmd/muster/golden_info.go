package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
)

func (p *program) goldenInfo() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "info [FILE] [flags]",
		Short: "Describe a golden: origin, settings, accepts and sizes",
		Long: `Info prints the tool and the corpus that a golden was recorded with, the time, the
machine and the selection. It counts the cases and the flaky ones, and lists the accepts
since the record that the golden still has outcomes of. It prints the sizes of the file
and of its contents.`,
		Example: "  muster golden info\n  muster golden info old.golden --format json",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags, formatFlag}, func(c *cobra.Command, o *regress.Options, args []string) error {
		takeGolden(o, args)
		return goldens.Info(c.Context(), *o, newHost(p))
	})
}

package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/past"
)

func (p *program) diff() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "diff A.golden B.golden [flags]",
		Short: "Compare two goldens",
		Long: `Diff compares two goldens, files or at http(s) addresses, and reports as check does,
with A as the golden.`,
		Example: "  muster diff before.golden after.golden",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("diff wants two goldens")
			}
			return nil
		},
	}, []flagGroup{stateFlag, selectFlags, comparisonFlags, allowFlag, reportFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return finish(past.Diff(c.Context(), *o, newHost(p), args[0], args[1]))
	})
}

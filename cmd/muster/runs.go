package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/past"
)

func (p *program) runs() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "runs [flags]",
		Short: "List the past runs of this folder",
		Long: `Runs lists the past runs of this folder, the oldest first; the last twenty are
kept. Where a command takes a run's ID, the beginning of the ID will do.`,
		Example: "  muster runs\n  muster show a/b.go --run 20250131-14",
		Args:    noneWanted,
	}, []flagGroup{stateFlag, formatFlag}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		return past.Runs(c.Context(), *o, newHost(p))
	})
}

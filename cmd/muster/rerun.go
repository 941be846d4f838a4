package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) rerun() *cobra.Command {
	var failed bool
	c := p.command(&cobra.Command{
		Use:     "rerun [--failed] [flags]",
		Short:   "Do the last run again, all of it or what was not identical",
		Long:    `Rerun does the last record, check or compare again with the options that it had.`,
		Example: "  muster rerun\n  muster rerun --failed",
		Args:    noneWanted,
	}, []group{stateFlag, reportFlags}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		return work(c, o, func(ctx context.Context, o regress.Options) (regress.Summary, error) {
			return regress.Rerun(ctx, o, failed)
		})
	})
	c.Flags().BoolVar(&failed, "failed", false, "only the cases that were not identical")
	return c
}

// noneWanted refuses arguments.
func noneWanted(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, not %q", c.Name(), args[0])
	}
	return nil
}

func (p *program) runs() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "runs [flags]",
		Short: "List the past runs of this folder",
		Long: `Runs lists the past runs of this folder, the oldest first; the last twenty are
kept. Where a command takes a run's ID, its beginning will do.`,
		Example: "  muster runs\n  muster show a/b.go --run 20250131-14",
		Args:    noneWanted,
	}, []group{stateFlag, formatFlag}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		return regress.Runs(c.Context(), *o)
	})
}

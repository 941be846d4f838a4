package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/check"
	"muster/regress/host"
	"muster/regress/past"
	"muster/regress/record"
)

func (p *program) rerun() *cobra.Command {
	var failed bool
	c := p.command(&cobra.Command{
		Use:   "rerun [--failed] [flags]",
		Short: "Repeat the last run, or only its cases that were not identical",
		Long: `Rerun repeats the last record, check or compare with the options that it had. The flags
of rerun only choose reports, the state folder, the settings file and the engine.`,
		Example: "  muster rerun\n  muster rerun --failed",
		Args:    noneWanted,
	}, []flagGroup{stateFlag, reportFlags, remoteFlags}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		return work(c, o, newHost(p), func(ctx context.Context, o regress.Options, h host.Host) (regress.Summary, error) {
			again, command, err := past.RerunOptions(o, failed)
			if err != nil {
				return regress.Summary{}, err
			}
			switch command {
			case "record":
				return record.Run(ctx, again, h)
			case "compare":
				return check.Compare(ctx, again, h)
			}
			return check.Run(ctx, again, h)
		})
	})
	c.Flags().BoolVar(&failed, "failed", false, "run only the cases that were not identical")
	return c
}

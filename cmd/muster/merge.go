package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/merge"
)

func (p *program) merge() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "merge RUN RUN... [flags]",
		Short: "Join the checks of several CI jobs into one run",
		Long: `Merge joins checks of parts of one corpus into one run. groups, show, review and accept
take that run like any other. A RUN is the ID of a run, the folder of a run, or the state
folder of another job. A state folder stands for its last check.

The runs must have compared the same corpus and command with the same golden, under
the same settings. Merge refuses a case that two runs judged in different ways, and
names it. The exit status is that of a check.`,
		Example: `  muster check --partition hash:1/2 --state job1       on one machine
  muster check --partition hash:2/2 --state job2       on another
  muster merge job1 job2 --html report.html`,
	}, []flagGroup{stateFlag, reportFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return work(c, o, newHost(p), func(ctx context.Context, o regress.Options, h host.Host) (regress.Summary, error) {
			return merge.Runs(ctx, o, h, args)
		})
	})
}

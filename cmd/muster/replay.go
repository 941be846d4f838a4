package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) replay() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "replay EVENTS [flags]",
		Short: "Show a recorded run again",
		Long: `Replay shows a run again that --events recorded in the file EVENTS (- for the
standard input), as it was shown then or with other reports: a page of a run that
has long ended, on another machine too. It runs nothing. The exit status is that of the
recorded run.

A run that was killed or still runs is shown as interrupted, and replay says what is
missing.`,
		Example: `  muster check --events run.jsonl
  muster replay run.jsonl --html report.html
  muster replay run.jsonl --format json -v`,
		Args: oneArg("the file that --events wrote"),
	}, []flagGroup{shownFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return work(c, o, func(ctx context.Context, o regress.Options) (regress.Summary, error) {
			return regress.Replay(ctx, o, args[0])
		})
	})
}

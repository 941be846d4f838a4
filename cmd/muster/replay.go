package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/past"
)

func (p *program) replay() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "replay EVENTS [flags]",
		Short: "Print the report of a past run from its file of events",
		Long: `Replay prints a run again from the file EVENTS that --events wrote (- for the standard
input). Add other reports, such as a page of a run on another machine. Replay runs nothing.
It exits with the status of the recorded run.

A run that was killed or still runs is printed as interrupted, and replay says what is
missing.`,
		Example: `  muster check --events run.jsonl
  muster replay run.jsonl --html report.html
  muster replay run.jsonl --format json -v`,
		Args: oneArg("the file that --events wrote"),
	}, []flagGroup{shownFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return work(c, o, newHost(p), func(ctx context.Context, o regress.Options, h host.Host) (regress.Summary, error) {
			return past.Replay(ctx, o, h, args[0])
		})
	})
}

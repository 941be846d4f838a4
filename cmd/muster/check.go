package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/check"
)

func (p *program) check() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "check [CORPUS] [flags] [-- COMMAND [ARG...]]",
		Short: "Run a changed command and compare with the golden",
		Long: `Check runs the command over every case of the corpus and compares the outcomes with
the golden. It never writes the golden. If a case differs, check runs it two more times.
If some runs equal the golden, the case is flaky. Otherwise it gets another verdict, such
as changed or crashed.

Then check measures the CPU time and memory that the change costs. It runs some cases
again, alternately with your command and the recorded one. If you rebuilt the recorded
executable in place, check says so and measures nothing.

Corpus, command, selection, environment and limits default to the recorded ones. If you
give a selection, it narrows the recorded one; --all-cases lifts that. The exit status is
0 if all cases are identical, and 1 if a case differs. See muster help exit-codes.`,
		Example: `  muster check
  muster check sources.tar -- ./gofmt-new {in}
  muster check --filter '^a/' --format json
  muster check --fail-on 'cpu>5%' -- ./gofmt-new {in}
  muster check --normalize 'stdout:s/took [0-9]+ ms/took N ms/'`,
	}, jobGroups(checkFlags, runsFlag, recordedFlags), func(c *cobra.Command, o *regress.Options, args []string) error {
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		return work(c, o, newHost(p), check.Run)
	})
}

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
		Long: `Check runs the command over every case of the corpus and compares what comes out
with the golden, which it never writes. A case that differs runs twice more. If some
runs equal the golden it is flaky, else it changed, crashed and so on. Then the golden's
command, if its executable still exists, runs some cases again in turns with yours, to
measure what the change costs.

Corpus, command and cases default to those that were recorded. A selection that you give
narrows the recorded one; --all-cases lifts the recorded one. The exit status is 0 when
all is identical and 1 when something is not; muster help exit-codes has the others.`,
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

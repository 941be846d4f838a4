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
the golden. It never writes the golden. A case that differs runs twice more. If some of
its runs equal the golden, the case is flaky; else it changed, crashed and so on.

To measure what a change costs, check then runs some cases again, with your command and
the golden's in turns. It needs the executable of the golden's command for that.

Corpus, command and cases default to the recorded ones. A selection that you give narrows
the recorded selection; --all-cases lifts it. The exit status is 0 if all cases are
identical, and 1 if a case differs. See muster help exit-codes for the others.`,
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

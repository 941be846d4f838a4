package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/decide"
)

func (p *program) accept() *cobra.Command {
	var a decide.AcceptOptions
	c := p.command(&cobra.Command{
		Use:   "accept G1...|NAME...|--all|--cases GLOB [flags]",
		Short: "Write new outcomes into the golden",
		Long: `Accept writes outcomes of the last check into the golden, all or nothing. It refuses if the
golden has changed since the check, except by other accepts from that check. For a golden
at an address, set MUSTER_TOKEN to the access token of its server.

Accepting a cause such as G1 of muster groups counts for this check only. A case enters
the golden once all its causes are accepted. If a case is itself named G1, write ./G1.

--all skips cases that newly fail, crash or reach a limit; --failing accepts them too.
It also skips cases that the corpus no longer has; --missing drops them from the golden.
--cases accepts only cases that match one of its globs. --cases without a name or a cause
implies --all.

If you accept all differences of a check of all cases, the golden also gets the check's
command and settings. A plain check runs them from then on. --keep-command keeps the old
command in the golden.

The golden keeps who accepted, when, and the reason of -m. muster golden info and
muster show print these.`,
		Example: `  muster accept G1 G3
  muster accept a/b.go a/c.go
  muster accept --all --dry-run
  muster accept --cases 'net/**' -m "the new resolver"
  muster accept --all --missing`,
	}, []flagGroup{stateFlag, acceptedFlags, runFlag(&a.Run)}, func(c *cobra.Command, o *regress.Options, args []string) error {
		a.Names = args
		_, err := decide.Accept(c.Context(), *o, newHost(p), a)
		return err
	}, causesAndCases)
	f := c.Flags()
	f.BoolVar(&a.All, "all", false, "accept everything that is not left out")
	f.BoolVar(&a.Failing, "failing", false, "with --all: accept also what crashed, failed newly or reached a limit")
	f.BoolVar(&a.Missing, "missing", false, "with --all: drop what the corpus no longer has")
	f.BoolVar(&a.DryRun, "dry-run", false, "only say what would be done")
	f.StringArrayVar(&a.Globs, "cases", nil, "accept only cases that match `GLOB`; repeatable")
	f.StringVarP(&a.Reason, "reason", "m", "", "keep `REASON` in the golden")
	f.StringVar(&a.Golden, "golden", "", "accept into the golden `FILE`, or the one at an address (default the one of the run)")
	f.BoolVar(&a.KeepCommand, "keep-command", false, "leave the golden's command as it is")
	onlyGiven(f, "cases", "golden")
	return c
}

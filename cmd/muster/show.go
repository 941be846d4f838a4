package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/past"
)

func (p *program) show() *cobra.Command {
	var id string
	var noPager bool
	return p.command(&cobra.Command{
		Use:   "show NAME|G1 [flags]",
		Short: "Show one cause, or everything about one case",
		Long: `Show prints everything in which a case differed in the last check, and the one
shell line that runs it again by hand. If the last run was a record, it prints
the recorded outcome of the case. For a cause of muster groups it prints what
the cause is, edits of it in a few cases, and the cases that show it. If a case is
itself named G1, write ./G1.`,
		Example: `  muster show a/b.go
  muster show G1
  muster show a/b.go --run 20250131`,
		Args: oneArg("the name of a case, or a cause such as G1"),
	}, []flagGroup{stateFlag, runFlag(&id), noPagerFlag(&noPager)}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return p.paged(c.Context(), o, noPager, func(h host.Host) error { return past.Show(c.Context(), *o, h, args[0], id) })
	}, shown)
}

package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/past"
)

func (p *program) groups() *cobra.Command {
	var id string
	var noPager bool
	return p.command(&cobra.Command{
		Use:   "groups [flags]",
		Short: "Group the differences by cause",
		Long: `Groups lists the causes of the differences of the last check, the most frequent first
(G1). Each has the number of its cases, of those without another cause, and of changed
lines, and names the case with the smallest source.`,
		Example: `  muster groups
  muster groups --format json
  muster show G1`,
		Args: noneWanted,
	}, []flagGroup{stateFlag, formatFlag, runFlag(&id), noPagerFlag(&noPager)}, func(c *cobra.Command, o *regress.Options, _ []string) error {
		return p.paged(c.Context(), o, noPager, func(h host.Host) error { return past.Groups(c.Context(), *o, h, id) })
	})
}

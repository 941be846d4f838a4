package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
)

func (p *program) goldenCompact() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "compact [FILE] [flags]",
		Short: "Free the unused space of a golden",
		Long: `Compact frees the space of contents that accepts have replaced. It writes a copy
beside the golden and renames it, so the disk needs room for both.`,
		Example: "  muster golden compact",
		Args:    atMostOne("a golden"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		takeGolden(o, args)
		return goldens.Compact(c.Context(), *o, newHost(p))
	})
}

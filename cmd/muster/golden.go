package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) golden() *cobra.Command {
	c := &cobra.Command{
		Use:   "golden",
		Short: "Describe, check, repair, merge and compact goldens",
		Long: `Golden looks after goldens: who recorded one with what, whether all of it is whole,
how to keep what is whole of a damaged one, and how to join those of several partitions.
FILE is a golden; without it the commands take that of --golden.`,
		Example: `  muster golden info                              who recorded it, with what, and its size
  muster golden check                             read all of it
  muster golden merge a.golden b.golden --into muster.golden`,
		Args: unknownSubcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddGroup(&cobra.Group{ID: mainGroup, Title: "Main:"})
	for _, sub := range []*cobra.Command{
		p.goldenInfo(), p.goldenCheck(), p.goldenRepair(), p.goldenMerge(), p.goldenCompact(), p.goldenText(),
	} {
		sub.GroupID = mainGroup
		c.AddCommand(sub)
	}
	return c
}

// takeGolden reads [FILE].
func takeGolden(o *regress.Options, args []string) {
	if len(args) > 0 {
		o.Store.Golden = args[0]
	}
}

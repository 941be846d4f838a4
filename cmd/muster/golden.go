package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) golden() *cobra.Command {
	c := &cobra.Command{
		Use:   "golden",
		Short: "Describe, check, repair, merge and compact goldens",
		Long: `Golden describes, checks, repairs, merges and compacts goldens. Each command takes a
FILE; without it, --golden or muster.golden.`,
		Example: `  muster golden info                              print tool, corpus, accepts and sizes
  muster golden check                             read everything, and report damage
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

package main

import (
	"github.com/spf13/cobra"

	"muster/lab"
)

// probeWord is the argument that makes this program a probe of lab.
const probeWord = "probe"

func (p *program) labProbe() *cobra.Command {
	return &cobra.Command{
		Use:                probeWord,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			return lab.Probe(c.Context(), args, p.stdin, p.stdout)
		},
	}
}

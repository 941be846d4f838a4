package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) diff() *cobra.Command {
	return p.command(&cobra.Command{
		Use:     "diff A.golden B.golden [flags]",
		Short:   "Compare two goldens",
		Long:    `Diff compares two goldens and reports as check does, with A as the golden.`,
		Example: "  muster diff before.golden after.golden",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("diff wants two goldens")
			}
			return nil
		},
	}, []group{selectFlags, normalizeFlag, allowFlag, reportFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return finish(regress.Diff(c.Context(), *o, args[0], args[1]))
	})
}

func (p *program) export() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "export DIR [flags]",
		Short: "Write the golden as plain files",
		Long: `Export writes DIR/<name>.case/{outcome.json,stdout,stderr,files/…} for every
case, without times, memory, machine or paths: two goldens are equal when their
exports are. DIR must be new or empty.`,
		Example: "  muster export golden-files\n  diff -r before-files golden-files",
		Args:    oneArg("a folder"),
	}, []group{goldenFlag}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return regress.Export(c.Context(), *o, args[0])
	})
}

func (p *program) importing() *cobra.Command {
	return p.command(&cobra.Command{
		Use:     "import DIR [flags]",
		Short:   "Make a golden of what export wrote",
		Long:    `Import is the way back from export, without cost figures. It replaces the golden.`,
		Example: "  muster import golden-files --golden copy.golden",
		Args:    oneArg("a folder"),
	}, []group{goldenFlag}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return regress.Import(c.Context(), *o, args[0])
	})
}

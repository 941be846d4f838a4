package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
)

func (p *program) export() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "export DIR [flags]",
		Short: "Write the golden as plain files",
		Long: `Export writes DIR/<name>.case/{outcome.json,stdout,stderr,files/…} for every
case, without times, memory, machine or paths: two goldens are equal when their
exports are. DIR must be new or empty.`,
		Example: "  muster export golden-files\n  diff -r before-files golden-files",
		Args:    oneArg("a folder"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return goldens.Export(c.Context(), *o, newHost(p), args[0])
	})
}

func (p *program) importing() *cobra.Command {
	return p.command(&cobra.Command{
		Use:     "import DIR [flags]",
		Short:   "Make a golden from exported files",
		Long:    `Import is the way back from export, without cost figures. It replaces the golden.`,
		Example: "  muster import golden-files --golden copy.golden",
		Args:    oneArg("a folder"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		return goldens.Import(c.Context(), *o, newHost(p), args[0])
	})
}

package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
)

func (p *program) goldenText() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "textconv [FILE] [flags]",
		Short: "Print a golden as text, for git diff",
		Long: `Textconv prints a golden as lines: its settings, the ending of each case, and the size
and SHA-256 of each part. Tabs separate the fields. Times, costs and the machine of the
record are left out. Each accept has a line with its author, time and reason.

With the two lines below, git diff shows which cases of a golden changed.`,
		Example: `  echo '*.golden diff=muster' >> .gitattributes
  git config diff.muster.textconv 'muster golden textconv'`,
		Args: atMostOne("a golden"),
	}, []flagGroup{storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		takeGolden(o, args)
		return goldens.Text(c.Context(), *o, newHost(p))
	})
}

package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/goldens"
)

func (p *program) goldenMerge() *cobra.Command {
	into := ""
	c := p.command(&cobra.Command{
		Use:   "merge A B... --into FILE [flags]",
		Short: "Join the goldens of several partitions",
		Long: `Merge joins several goldens, such as those that the jobs of a CI recorded with
--partition. The result equals the golden of one record of everything.

Merge refuses goldens of different commands, tools, corpora or flags. It also refuses a
case with different outcomes in two goldens, and an incomplete set of partitions. The
error names each conflict.`,
		Example: `  muster record src --partition hash:1/2 --golden 1.golden -- cc -S {in}
  muster record src --partition hash:2/2 --golden 2.golden -- cc -S {in}
  muster golden merge 1.golden 2.golden --into muster.golden`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("golden merge needs two or more goldens")
			}
			return nil
		},
	}, []flagGroup{stateFlag}, func(c *cobra.Command, o *regress.Options, args []string) error {
		if into == "" {
			return usagef("golden merge needs a file to write to: add --into FILE")
		}
		return goldens.Merge(c.Context(), *o, newHost(p), into, args)
	})
	c.Flags().StringVarP(&into, "into", "o", "", "write the golden to `FILE`")
	return c
}

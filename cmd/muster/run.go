package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/runone"
)

func (p *program) runOne() *cobra.Command {
	var keep string
	c := p.command(&cobra.Command{
		Use:   "run NAME [CORPUS] [flags] --keep DIR [-- COMMAND [ARG...]]",
		Short: "Run one case and keep its folder, to look at it by hand",
		Long: `Run runs one case exactly as check would, in DIR. DIR stays as the case leaves it:
the work folder, home, tmp and the two streams. Settings that you do not give are as
recorded; --golden '' takes nothing from a golden.`,
		Example: `  muster run a/b.go --keep /tmp/look
  muster run a/b.go sources.tar --keep /tmp/look -- gofmt -s {in}`,
	}, []flagGroup{corpusFlags, commandFlags, caseLimitFlags, storeFlags, remoteFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		before, err := takeCommand(c, o, args)
		if err != nil {
			return err
		}
		if len(before) == 0 {
			return usagef("run wants the name of a case: muster cases lists them")
		}
		if keep == "" {
			return usagef("run wants --keep DIR, the folder to run in")
		}
		if err := takeCorpus(c, o, before[1:]); err != nil {
			return err
		}
		return runone.Run(c.Context(), *o, newHost(p), before[0], keep)
	}, casesOf)
	c.Flags().StringVar(&keep, "keep", "", "keep the case's folder as `DIR`, which must be new or empty")
	return c
}

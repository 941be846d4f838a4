package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/check"
)

func (p *program) compare() *cobra.Command {
	var reference, candidate string
	c := p.command(&cobra.Command{
		Use:   "compare [CORPUS] [flags] --ref 'COMMAND' --new 'COMMAND'",
		Short: "Compare two commands side by side, without a golden",
		Long: `Compare runs both commands over every case of the corpus, interleaved, and
compares their outcomes. It neither reads nor writes a golden: --golden only names a file
that is not a case of the corpus.`,
		Example: `  muster compare sources.tar --ref 'gofmt {in}' --new 'gofmt -s {in}'`,
	}, jobGroups(checkFlags), func(c *cobra.Command, o *regress.Options, args []string) error {
		if c.ArgsLenAtDash() >= 0 {
			return usagef("compare takes its commands by --ref and --new, not after --")
		}
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		if reference == "" || candidate == "" {
			return usagef("compare wants --ref 'COMMAND' and --new 'COMMAND'")
		}
		var err error
		if o.Command.Reference, err = splitCommand("--ref", reference); err != nil {
			return err
		}
		if o.Command.Words, err = splitCommand("--new", candidate); err != nil {
			return err
		}
		o.Command.ByGlob = nil
		return work(c, o, newHost(p), check.Compare)
	})
	c.Flags().StringVar(&reference, "ref", "", "run `COMMAND` as the trusted one")
	c.Flags().StringVar(&candidate, "new", "", "run `COMMAND` as the changed one")
	return c
}

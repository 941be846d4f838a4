package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/record"
)

func (p *program) record() *cobra.Command {
	return p.command(&cobra.Command{
		Use:   "record [CORPUS] [flags] [-- COMMAND [ARG...]]",
		Short: "Run the trusted command and record its outcomes in the golden",
		Long: `Record runs the command twice over every case of the corpus, and keeps the outcomes in
the golden. It marks the parts that differ from run to run as flaky. The old golden stays
whole until the new one is complete. A golden at an address is replaced only if
nobody changed it since the command began.

A case that fails is an outcome like any other. If every case fails, record
writes no golden and exits with 1, unless --allow-failures is set.

CORPUS is a .tar, .tar.gz, .tar.zst or .tar.xz, a folder, or - for a tar on
standard input. In COMMAND, {in} is the source, {out} is {in}.out, {stem} the
source without its extension, {name} its base name, {dir} its folder. A command
without any of them, and without --stdin, gets {in} as its last argument.`,
		Example: `  muster record sources.tar -- gofmt {in}
  muster record src --headers '*.h' -- cc -c {in} -o {out}
  tar c src | muster record - --stdin -- wc -l`,
	}, jobGroups(recordFlags), func(c *cobra.Command, o *regress.Options, args []string) error {
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		return work(c, o, newHost(p), record.Run)
	})
}

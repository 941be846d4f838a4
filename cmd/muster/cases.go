package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/past"
)

func (p *program) cases() *cobra.Command {
	var list past.CaseList
	c := p.command(&cobra.Command{
		Use:   "cases [CORPUS] [flags]",
		Short: "List the cases that would run",
		Long: `Cases lists the cases that a check with the same flags would run, one a line, in
corpus order. A golden limits them to its selection; --all-cases lifts that.
--failing lists only the cases that did not exit with 0 when they were recorded.`,
		Example: "  muster cases sources.tar --filter '!_test' --sample 10\n  muster cases --failing\n  muster cases -0 | xargs -0 -n1 echo",
	}, []flagGroup{corpusFlags, selectFlags, allCasesFlag, storeFlags}, func(c *cobra.Command, o *regress.Options, args []string) error {
		if c.ArgsLenAtDash() >= 0 {
			return usagef("cases takes no command")
		}
		if err := takeJob(c, o, args); err != nil {
			return err
		}
		names, err := past.Cases(c.Context(), *o, newHost(p), list)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(p.stdout)
		end := byte('\n')
		if list.Raw {
			end = 0
		}
		for _, n := range names {
			w.WriteString(n)
			w.WriteByte(end)
		}
		return w.Flush()
	})
	c.Flags().BoolVarP(&list.Raw, "null", "0", false, "print raw names, each ended by a NUL byte")
	c.Flags().BoolVar(&list.Failing, "failing", false, "list only cases that did not exit with 0 when they were recorded")
	return c
}

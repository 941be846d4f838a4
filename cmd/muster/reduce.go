package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
)

func (p *program) reduce() *cobra.Command {
	var how regress.Reduction
	var reference string
	c := p.command(&cobra.Command{
		Use:   "reduce NAME|G1 [flags]",
		Short: "Shrink a source as long as it still shows the cause",
		Long: `Reduce takes the smallest source that shows a cause, or the case of that name with
all its causes, and leaves out of it what the cause does not need: forms, lines, what
is in brackets, tokens. Each attempt runs the reference and the candidate as the check
did. What is left shows the same cause, ends in the same way, and shows no other cause
than before. It is written to .muster/reduced/RUN/NAME, where it stays as long as the
run, and printed with the difference and the line that runs it again.

The reference is the command that made the golden, if its executable is still what it
was, or that of compare. An interrupt keeps the smallest so far.`,
		Example: `  muster reduce G1
  muster reduce a/b.go --ref './gofmt-old {in}'
  muster reduce G3 --run 20250131 --time-max 1m`,
		Args: oneArg("a cause or the name of a case"),
	}, []flagGroup{stateFlag, jobsFlag, quietFlag, remoteFlags, runFlag(&how.Run)}, func(c *cobra.Command, o *regress.Options, args []string) (err error) {
		how.Target = args[0]
		if reference != "" {
			if how.Reference, err = splitCommand("--ref", reference); err != nil {
				return err
			}
		}
		line := newStatusLine(o.Report.Stderr, o.Report.Quiet)
		defer line.end()
		how.Status = line.showOrEnd
		return regress.Reduce(c.Context(), *o, how)
	}, causesAndCases)
	c.Flags().StringVar(&reference, "ref", "", "run `COMMAND` as the trusted one (default the one that the run compared with)")
	c.Flags().DurationVar(&how.TimeMax, "time-max", regress.ReduceTimeDefault, "keep the smallest so far after `TIME`; 0 = no limit")
	c.Flags().IntVar(&how.TestsMax, "tests-max", 0, "make `N` attempts at most; 0 = no limit (default 0)")
	return c
}

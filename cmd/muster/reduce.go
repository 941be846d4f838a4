package main

import (
	"github.com/spf13/cobra"

	"muster/regress"
	"muster/regress/reduce"
)

func (p *program) reduce() *cobra.Command {
	var how reduce.Options
	var reference string
	c := p.command(&cobra.Command{
		Use:   "reduce NAME|G1 [flags]",
		Short: "Shrink a source to the smallest one that still shows the cause",
		Long: `Reduce starts with the smallest source that shows a cause, or with the case of that name
and all its causes. It removes what the cause does not need: declarations, lines, bracketed
groups and tokens. Each attempt runs the reference and the candidate as the check did. The
result shows the same cause, ends in the same way, and shows no new cause.

The result is written to .muster/reduced/RUN/NAME and stays there as long as the run. It
is printed with the difference and the line that runs it again.

The reference is the command that recorded the golden, if its executable has not changed,
or the reference of compare. An interrupt keeps the smallest source so far.`,
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
		line := newStatusLine(p.stderr, o.Report.Quiet)
		defer line.end()
		how.Status = line.showOrEnd
		return reduce.Run(c.Context(), *o, newHost(p), how)
	}, causesAndCases)
	c.Flags().StringVar(&reference, "ref", "", "run `COMMAND` as the trusted one (default the one that the run compared with)")
	c.Flags().DurationVar(&how.TimeMax, "time-max", reduce.TimeDefault, "keep the smallest so far after `TIME`; 0 = no limit")
	c.Flags().IntVar(&how.TestsMax, "tests-max", 0, "make `N` attempts at most; 0 = no limit (default 0)")
	return c
}

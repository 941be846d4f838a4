package main

import (
	"context"

	"github.com/spf13/cobra"

	"muster/lab"
)

func (p *program) labAdvise() *cobra.Command {
	var l labFlags
	o := lab.AdviseOptions{}
	c := &cobra.Command{
		Use:   "advise [flags]",
		Short: "What to set on this machine: workers, GOMAXPROCS, chunks, threads",
		Long: `Advise measures what settings of a concurrent program rest on, and says what to set
here: GOMAXPROCS, workers for tasks that compute and for tasks that wait, how many small
tasks to hand out at a time, from which work on a goroutine is cheap, workers for files.
Each line comes with its measurement.`,
		Example: `  muster lab advise
  muster lab advise --task 250ns            how many tasks of that length at a time
  muster lab advise --dir /srv/data --format json`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.measure(c.Context(), &l, &o.Options, labRun{
				func(ctx context.Context) (*lab.Results, error) { return lab.Advise(ctx, o) },
				func(r *lab.Results) lab.Report { return lab.AdviseReport(r, o) },
			})
		},
	}
	l.add(c.Flags())
	c.Flags().DurationVar(&o.Task, "task", 0, "tell how many tasks to hand out at a time if one `COSTS` 250ns or 3us (default: for several costs)")
	c.Flags().StringVar(&o.Dir, "dir", "", "write files below `DIR`, and take them away again (default: where the system has temporary files)")
	return c
}

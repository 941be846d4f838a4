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
		Short: "Recommend settings: workers, GOMAXPROCS, chunks, threads",
		Long: `Advise measures this machine and recommends settings for a concurrent program:
GOMAXPROCS, workers for tasks that compute or wait, the number of small tasks per chunk,
the least work for a goroutine, and workers for files. Each setting has its
measurements.`,
		Example: `  muster lab advise
  muster lab advise --task 250ns            the chunk size for tasks of 250 ns
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
	c.Flags().DurationVar(&o.Task, "task", 0, "recommend a chunk size for tasks of this `DURATION`, such as 250ns or 3us (default: several durations)")
	c.Flags().StringVar(&o.Dir, "dir", "", "write test files below `DIR`, and remove them (default: the system's folder for temporary files)")
	return c
}

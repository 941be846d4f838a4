package main

import (
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"muster/lab"
)

func (p *program) labDispatch() *cobra.Command {
	var l labFlags
	o := lab.DispatchOptions{Tasks: []int{10_000, 100_000}, Procs: oneAndAll()}
	c := &cobra.Command{
		Use:   "dispatch [flags]",
		Short: "Measure the cost of a task on a pool, in Go and other languages",
		Long: `Dispatch measures the cost of a trivial task on a pool of workers. Contestants are
muster's pool, the articles' programs in Go and C++, and widely used pools in Go, C++,
Rust and Java. Contestants are compiled at their first use; missing compilers are
reported. --full measures up to 100,000,000 tasks.`,
		Example: `  muster lab dispatch
  muster lab dispatch --jobs 2 --peers go,rust --tasks 1e6
  muster lab dispatch --full --out dispatch.txt      and after an interruption:
  muster lab dispatch --full --out dispatch.txt --resume`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if l.full && !c.Flags().Changed("tasks") {
				o.Tasks = []int{10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}
			}
			return p.measure(c.Context(), &l, &o.Options, labRun{
				func(ctx context.Context) (*lab.Results, error) { return lab.Dispatch(ctx, o) },
				func(r *lab.Results) lab.Report { return lab.DispatchReport(r, o) },
			})
		},
	}
	l.add(c.Flags())
	l.addFull(c.Flags(), "measure up to 100,000,000 tasks; takes hours, unless --tasks or --peers restrict it")
	c.Flags().IntVar(&o.Jobs, "jobs", 8, "start `N` workers in each pool")
	c.Flags().Var((*numbers)(&o.Tasks), "tasks", "dispatch `NUMBERS` of tasks, such as 1e4,1e5,1e6")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "set GOMAXPROCS to each of `NUMBERS`, for contestants in Go")
	c.Flags().StringSliceVar(&o.Peers, "peers", nil, "compare only with these `LANGUAGES` or contestants, such as go,cpp,rust,java")
	return c
}

// oneAndAll returns 1 and Go's default GOMAXPROCS.
func oneAndAll() []int {
	if all := runtime.GOMAXPROCS(0); all > 1 {
		return []int{1, all}
	}
	return []int{1}
}

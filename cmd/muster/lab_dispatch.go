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
		Short: "What it costs to hand a task to a pool, here and in other languages",
		Long: `Dispatch measures what it costs to hand a trivial task to a pool of workers: the
articles' programs in Go and C++, muster's pool, and what people use in Go, C++, Rust
and Java. Contestants are compiled when they are first wanted; what is missing for that
is named. --full goes to 100,000,000 tasks.`,
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
	l.addFull(c.Flags(), "up to 100,000,000 tasks: hours, unless --tasks or --peers say less")
	c.Flags().IntVar(&o.Jobs, "jobs", 8, "start `N` workers in each pool")
	c.Flags().Var((*numbers)(&o.Tasks), "tasks", "take `NUMBERS` of tasks, such as 1e4,1e5,1e6")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "take `NUMBERS` for GOMAXPROCS, for what is in Go")
	c.Flags().StringSliceVar(&o.Peers, "peers", nil, "take only these `LANGUAGES` or contestants beside muster, such as go,cpp,rust,java")
	return c
}

// oneAndAll is a GOMAXPROCS of 1, and the one that Go takes here.
func oneAndAll() []int {
	if all := runtime.GOMAXPROCS(0); all > 1 {
		return []int{1, all}
	}
	return []int{1}
}

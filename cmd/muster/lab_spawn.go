package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"muster/lab"
)

// spawnQuick bounds one measurement without --full.
const spawnQuick = 100 * time.Millisecond

func (p *program) labSpawn() *cobra.Command {
	var l labFlags
	o := lab.SpawnOptions{
		Work: []int{1, 10, 100, 1000, 5000}, Goroutines: []int{1_000, 10_000, 100_000, 1_000_000}, Procs: oneAndAll(),
	}
	c := &cobra.Command{
		Use:   "spawn [flags]",
		Short: "Measure time and memory of goroutines and of threads in other languages",
		Long: `Spawn calls functions that compute square roots, as the article of 2012 did. It calls them
in a loop, and each in a goroutine that sends its result over a channel. Times include garbage
collection. Spawn also measures the memory of waiting goroutines. Contestants are
threads in C++, Rust and Java, rayon's tasks, Java's virtual threads and Erlang's
processes. Measurements longer than 0.1 s need --full.`,
		Example: `  muster lab spawn --html spawn.html
  muster lab spawn --work 1,100 --goroutines 1e3,1e6 --peers erlang`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if !l.full {
				o.EachMax = spawnQuick
			}
			return p.measure(c.Context(), &l, &o.Options, labRun{
				func(ctx context.Context) (*lab.Results, error) { return lab.Spawn(ctx, o) },
				func(r *lab.Results) lab.Report { return lab.SpawnReport(r, o) },
			})
		},
	}
	l.add(c.Flags())
	l.addFull(c.Flags(), "also make measurements longer than 0.1 s; takes some minutes")
	c.Flags().Var((*numbers)(&o.Work), "work", "compute `NUMBERS` of square roots per call")
	c.Flags().Var((*numbers)(&o.Goroutines), "goroutines", "make `NUMBERS` of calls with as many goroutines alive, such as 1e3,1e6")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "set GOMAXPROCS to each of `NUMBERS`")
	c.Flags().StringSliceVar(&o.Peers, "peers", nil, "compare only with these `LANGUAGES` or contestants, such as erlang,java,cpp,rust")
	return c
}

package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"muster/lab"
)

// spawnQuick is how long one measurement may take without --full.
const spawnQuick = 100 * time.Millisecond

func (p *program) labSpawn() *cobra.Command {
	var l labFlags
	o := lab.SpawnOptions{
		Work: []int{1, 10, 100, 1000, 5000}, Goroutines: []int{1_000, 10_000, 100_000, 1_000_000}, Procs: oneAndAll(),
	}
	c := &cobra.Command{
		Use:   "spawn [flags]",
		Short: "What a goroutine costs in time and memory, beside threads of other languages",
		Long: `Spawn calls functions of so many square roots in a loop, and each call in a goroutine
of its own that reports over a channel, as the article of 2012 did, garbage collection
included; and tells what goroutines that wait take of memory. Beside them stand threads
in C++, Rust and Java, rayon's tasks, Java's virtual threads and Erlang's processes.
What takes longer than a tenth of a second at a time is left to --full.`,
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
	l.addFull(c.Flags(), "also what takes longer than a tenth of a second at a time: some minutes")
	c.Flags().Var((*numbers)(&o.Work), "work", "take `NUMBERS` of square roots for a call")
	c.Flags().Var((*numbers)(&o.Goroutines), "goroutines", "take `NUMBERS` of calls, and of goroutines alive, such as 1e3,1e6")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "take `NUMBERS` for GOMAXPROCS")
	c.Flags().StringSliceVar(&o.Peers, "peers", nil, "take only these `LANGUAGES` or contestants beside Go, such as erlang,java,cpp,rust")
	return c
}

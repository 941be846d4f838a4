package main

import (
	"context"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"muster/lab"
)

// Default numbers of items and rows, and the article's.
const (
	itemsQuick, rowsQuick = 200_000, 2_000
	itemsFull, rowsFull   = 1_000_000, 20_000
)

func (p *program) labChannel() *cobra.Command {
	var l labFlags
	o := lab.ChannelOptions{
		Procs:  []int{1, 2, 4, 8, 16, 32, 64, 128, 256},
		Cycles: []int{0, 10, 100, 1000}, Writers: []int{1, 20, 100, 1000},
	}
	c := &cobra.Command{
		Use:   "channel [flags]",
		Short: "Measure channels, against GOMAXPROCS and work beside them",
		Long: `Channel measures one goroutine that fills a channel and another that drains it, as the
article of 2013 did. It varies GOMAXPROCS, the buffer, and the loop iterations beside
each item (cycles). It counts threads, and compares one process with several. Last,
goroutines write rows to a private PostgreSQL server and to SQLite.
--full uses the article's 1,000,000 items instead of 200,000, and 20,000 rows instead of
2,000.`,
		Example: `  muster lab channel --html channel.html
  muster lab channel --procs 1,2,3,4 --cycles 0,1000 --processes 8`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			rows := rowsQuick
			if o.Items = itemsQuick; l.full {
				o.Items, rows = itemsFull, rowsFull
			}
			if !c.Flags().Changed("rows") {
				o.Rows = rows
			}
			if slices.Equal(o.Writers, []int{0}) {
				o.Writers = nil
			}
			return p.measure(c.Context(), &l, &o.Options, labRun{
				func(ctx context.Context) (*lab.Results, error) { return lab.Channel(ctx, o) },
				func(r *lab.Results) lab.Report { return lab.ChannelReport(r, o) },
			})
		},
	}
	l.add(c.Flags())
	l.addFull(c.Flags(), "use 1,000,000 items and 20,000 rows, as in the article; takes some minutes")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "set GOMAXPROCS to each of `NUMBERS`")
	c.Flags().Var((*numbers)(&o.Cycles), "cycles", "run `NUMBERS` of loop iterations for each item, on both sides")
	c.Flags().IntVar(&o.Processes, "processes", 2*runtime.NumCPU(), "run up to `N` processes at the same time; 0 = skip")
	c.Flags().Var((*numbers)(&o.Writers), "writers", "let `NUMBERS` of goroutines write to a database at the same time; 0 = skip")
	c.Flags().IntVar(&o.Rows, "rows", 0, "write `N` rows in total (default 2000, with --full 20000)")
	return c
}

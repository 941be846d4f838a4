package main

import (
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"muster/lab"
)

// probeWord is the argument that makes this program a probe of lab.
const probeWord = "probe"

func (p *program) labProbe() *cobra.Command {
	return &cobra.Command{
		Use:                probeWord,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			return lab.Probe(c.Context(), args, p.stdin, p.stdout)
		},
	}
}

func (p *program) labDispatch() *cobra.Command {
	var l labFlags
	o := lab.DispatchOptions{Tasks: []int{10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}, Procs: oneAndAll()}
	c := &cobra.Command{
		Use:   "dispatch [flags]",
		Short: "Measure the cost of a task on a pool, in Go and other languages",
		Long: `Dispatch measures the cost of a trivial task on a pool of workers. Contestants are
muster's pool, the articles' programs in Go and C++, and widely used pools in Go, C++,
Rust and Java. Contestants are compiled at their first use; missing compilers are
reported. The numbers of tasks are the article's, 10,000 to 100,000,000. If all runs of a
contestant would take more than a minute, the report leaves that number of tasks out;
--full measures it. The defaults take about a quarter of an hour.`,
		Example: `  muster lab dispatch
  muster lab dispatch --jobs 2 --peers go,rust --tasks 1e6
  muster lab dispatch --full --out dispatch.txt      and after an interruption:
  muster lab dispatch --full --out dispatch.txt --resume`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if !l.full {
				o.RowMax = time.Minute
			}
			return measure(c.Context(), p, &l, &o.Options, &o, lab.Dispatch, lab.DispatchReport)
		},
	}
	l.add(c.Flags())
	c.Flags().BoolVar(&l.full, "full", false, "also measure what takes more than a minute; takes hours, unless --tasks or --peers restrict it")
	c.Flags().IntVar(&o.Jobs, "jobs", 8, "start `N` workers in each pool")
	c.Flags().Var((*numbers)(&o.Tasks), "tasks", "dispatch `NUMBERS` of tasks, such as 1e4,1e5,1e6")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "set GOMAXPROCS to each of `NUMBERS`, for contestants in Go")
	defaultByMachine(c.Flags(), "procs", "1 and the processors of this machine")
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

// Default number of items, and the article's.
const itemsQuick, itemsFull = 200_000, 1_000_000

func (p *program) labChannel() *cobra.Command {
	var l labFlags
	o := lab.ChannelOptions{
		Procs:  []int{1, 2, 4, 8, 16, 32, 64, 128, 256},
		Cycles: []int{0, 100, 1000, 10_000, 1_000_000, 10_000_000},
	}
	c := &cobra.Command{
		Use:   "channel [flags]",
		Short: "Measure channels, against GOMAXPROCS and work beside them",
		Long: `Channel measures one goroutine that fills a channel and another that drains it, as the
article of 2013 did. It varies GOMAXPROCS, the buffer, and the loop iterations beside
each item (cycles). It counts threads, and compares one process with several, each with
several values of GOMAXPROCS.
--full uses the article's 1,000,000 items instead of 200,000.`,
		Example: `  muster lab channel --html channel.html
  muster lab channel --procs 1,2,3,4 --cycles 0,1000 --processes 8`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Items = itemsQuick; l.full {
				o.Items = itemsFull
			}
			return measure(c.Context(), p, &l, &o.Options, &o, lab.Channel, lab.ChannelReport)
		},
	}
	l.add(c.Flags())
	c.Flags().BoolVar(&l.full, "full", false, "use 1,000,000 items, as in the article; takes some minutes")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "set GOMAXPROCS to each of `NUMBERS`")
	c.Flags().Var((*numbers)(&o.Cycles), "cycles", "run `NUMBERS` of loop iterations for each item, on both sides")
	c.Flags().BoolVar(&o.Portions, "portions", false, "also report the time of every portion of 100,000 items")
	c.Flags().IntVar(&o.Processes, "processes", 2*runtime.NumCPU(), "run up to `N` processes at the same time, each with --procs up to N; 0 = skip")
	defaultByMachine(c.Flags(), "processes", "twice the processors of this machine")
	return c
}

// spawnQuick bounds one measurement without --full.
const spawnQuick = time.Second

func (p *program) labSpawn() *cobra.Command {
	var l labFlags
	o := lab.SpawnOptions{
		Work: []int{1, 10, 100, 1000, 5000}, Goroutines: []int{1_000, 10_000, 100_000, 700_000, 1_000_000}, Procs: oneAndAll(),
	}
	c := &cobra.Command{
		Use:   "spawn [flags]",
		Short: "Measure time and memory of goroutines and of threads in other languages",
		Long: `Spawn calls a function that computes square roots and sends the result over a channel, as
the article of 2012 did. It calls it in a loop, and each time in a goroutine. It also measures
a loop that sends nothing. Times include garbage collection. Spawn also measures the memory
of waiting goroutines. Contestants are threads in C++, Rust and Java, rayon's tasks, Java's
virtual threads and Erlang's processes. Measurements longer than 1 s need --full. Those for which the
machine lacks free memory are left out.`,
		Example: `  muster lab spawn --html spawn.html
  muster lab spawn --work 1,100 --goroutines 1e3,1e6 --peers erlang`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if !l.full {
				o.EachMax = spawnQuick
			}
			o.MemoryMax = lab.MemoryFree()
			return measure(c.Context(), p, &l, &o.Options, &o, lab.Spawn, lab.SpawnReport)
		},
	}
	l.add(c.Flags())
	c.Flags().BoolVar(&l.full, "full", false, "also make measurements longer than 1 s; takes some minutes")
	c.Flags().Var((*numbers)(&o.Work), "work", "compute `NUMBERS` of square roots per call")
	c.Flags().Var((*numbers)(&o.Goroutines), "goroutines", "make `NUMBERS` of calls with as many goroutines alive, such as 1e3,1e6")
	c.Flags().Var((*numbers)(&o.Procs), "procs", "set GOMAXPROCS to each of `NUMBERS`")
	defaultByMachine(c.Flags(), "procs", "1 and the processors of this machine")
	c.Flags().StringSliceVar(&o.Peers, "peers", nil, "compare only with these `LANGUAGES` or contestants, such as erlang,java,cpp,rust")
	return c
}

// Numbers of files. The article renamed two million.
const (
	filesQuick, storedQuick, renamesQuick = 500, 500, 10_000
	filesFull, storedFull, renamesFull    = 20_000, 20_000, 2_000_000
)

func (p *program) labIO() *cobra.Command {
	var l labFlags
	o := lab.IOOptions{}
	c := &cobra.Command{
		Use:   "io [flags]",
		Short: "Measure files, engines, logs, messages, C calls, locks and threads",
		Long: `Io measures operations on whole files, and the engines that execute them: goroutines
themselves, a pool, threads in C, and io_uring. It measures renaming into one folder or
ten, log lines, messages as protobuf and JSON, calls into C, locks and wake-ups. In a
process of its own it shows how Go ends a program that exceeds its limit of threads.
--full renames two million files, as an article did, instead of 10,000.`,
		Example: `  muster lab io
  muster lab io --dir /mnt/slow --count 10 --html io.html`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Files, o.Stored, o.Renames = filesQuick, storedQuick, renamesQuick
			if l.full {
				o.Files, o.Stored, o.Renames = filesFull, storedFull, renamesFull
			}
			return measure(c.Context(), p, &l, &o.Options, &o, lab.IO, lab.IOReport)
		},
	}
	l.add(c.Flags())
	c.Flags().BoolVar(&l.full, "full", false, "use 20,000 files, and rename 2,000,000; takes some minutes")
	c.Flags().StringVar(&o.Dir, "dir", "", "write test files below `DIR`, and remove them (default: the system's folder for temporary files)")
	return c
}

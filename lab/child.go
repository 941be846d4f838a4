package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"

	"muster/lab/probe"
)

// Probe is what a process does that [Options.Probe] starts: it measures one thing once
// and prints a line of Go's benchmarks. The first argument says what, flags say more;
// they are this package's own and may change with every version.
func Probe(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("what is to be measured?")
	}
	questions := map[string]func(*flag.FlagSet) func() (Sample, error){
		"dispatch": probeDispatch,
		"channel": func(f *flag.FlagSet) func() (Sample, error) {
			return probeChannel(f, stdin, stdout)
		},
		"spawn":   probeSpawn,
		"waiting": probeWaiting,
		"started": probeStarted,
		"files":   func(f *flag.FlagSet) func() (Sample, error) { return probeFiles(ctx, f) },
		"layout":  func(f *flag.FlagSet) func() (Sample, error) { return probeLayout(ctx, f) },
		"log":     probeLog,
		"lock":    probeLock,
		"procs":   probeProcs,
		"workers": probeWorkers,
		"corpus":  func(f *flag.FlagSet) func() (Sample, error) { return probeCorpus(ctx, f) },
		"wakeup":  probeWakeUp,
		blockWord: func(f *flag.FlagSet) func() (Sample, error) { return probeBlock(f, stdin, stdout) },
	}
	question, ok := questions[args[0]]
	if !ok {
		return fmt.Errorf("no question %q", args[0])
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(io.Discard)
	answer := question(f)
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	s, err := answer()
	if err != nil {
		return err
	}
	s.Name = args[0]
	_, err = fmt.Fprintln(stdout, s)
	return err
}

// sampleOf is a cost as others print theirs.
func sampleOf(c probe.Cost, more ...Value) Sample {
	n := float64(c.N)
	return Sample{N: c.N, Values: append([]Value{{nsPerOp, float64(c.Wall) / n}, {cpuPerOp, float64(c.CPU) / n}}, more...)}
}

// Units.
const (
	nsPerOp  = "ns/op"
	cpuPerOp = "cpu-ns/op"
	threads  = "threads"
	rss      = "rss-B/op"
	stack    = "stack-B/op"
	sys      = "sys-B/op"
	portion  = "s/portion"
)

func probeDispatch(f *flag.FlagSet) func() (Sample, error) {
	mode := f.String("mode", "single", "")
	workers := f.Int("workers", 1, "")
	tasks := f.Int("tasks", 1, "")
	return func() (Sample, error) {
		c, err := probe.Dispatch(*mode, *workers, *tasks)
		return sampleOf(c), err
	}
}

func probeChannel(f *flag.FlagSet, stdin io.Reader, stdout io.Writer) func() (Sample, error) {
	o := probe.ChannelOptions{}
	f.IntVar(&o.Items, "items", 1_000_000, "")
	f.IntVar(&o.Portion, "portion", 100_000, "")
	f.IntVar(&o.Cycles, "cycles", 0, "")
	f.IntVar(&o.Buffer, "buffer", 0, "")
	gated := f.Bool(gate, false, "say that it is ready, and begin when standard input ends")
	return func() (Sample, error) {
		if *gated {
			fmt.Fprintln(stdout, ready)
			if _, err := io.Copy(io.Discard, stdin); err != nil {
				return Sample{}, err
			}
		}
		c, err := probe.Channel(o)
		if err != nil {
			return Sample{}, err
		}
		slices.Sort(c.Portions)
		return sampleOf(c.Cost, Value{portion, c.Portions[len(c.Portions)/2].Seconds()}, Value{threads, float64(c.Threads)}), nil
	}
}

// What keeps probes that are to run at the same time from starting before all are there.
const (
	gate  = "gate"
	ready = "ready"
)

func probeSpawn(f *flag.FlagSet) func() (Sample, error) {
	o := probe.SpawnOptions{}
	f.IntVar(&o.Roots, "work", 1, "")
	f.IntVar(&o.Calls, "count", 1, "")
	mode := f.String("mode", "direct", "")
	return func() (Sample, error) {
		o.Go = *mode == "each"
		c, err := probe.Spawn(o)
		return sampleOf(c), err
	}
}

func probeWaiting(f *flag.FlagSet) func() (Sample, error) {
	count := f.Int("count", 1, "")
	return func() (Sample, error) {
		w := probe.Waiting(*count)
		n := float64(w.Start.N)
		s := sampleOf(w.Start, Value{stack, float64(w.Stack) / n}, Value{sys, float64(w.Sys) / n})
		if w.Resident != 0 {
			s.Values = append(s.Values, Value{rss, float64(w.Resident) / n})
		}
		return s, nil
	}
}

func probeStarted(f *flag.FlagSet) func() (Sample, error) {
	goroutines := f.Int("goroutines", 1, "")
	each := f.Duration("each", 0, "")
	return func() (Sample, error) {
		n := probe.StartedThreads(*goroutines, *each)
		return Sample{N: *goroutines, Values: []Value{{threads, float64(n)}}}, nil
	}
}

// probeProcs tells the GOMAXPROCS of its process.
func probeProcs(*flag.FlagSet) func() (Sample, error) {
	return func() (Sample, error) {
		return Sample{N: 1, Values: []Value{{procsUnit, float64(runtime.GOMAXPROCS(0))}}}, nil
	}
}

const procsUnit = "procs"

func probeWorkers(f *flag.FlagSet) func() (Sample, error) {
	o := probe.WorkersOptions{}
	f.IntVar(&o.Workers, "workers", 1, "")
	f.IntVar(&o.Tasks, "tasks", 1, "")
	f.IntVar(&o.Roots, "roots", 0, "")
	f.DurationVar(&o.Wait, "wait", 0, "")
	return func() (Sample, error) {
		c, err := probe.Workers(o)
		return sampleOf(c), err
	}
}

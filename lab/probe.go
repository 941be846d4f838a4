package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"

	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
)

// Probe runs in the process that [Options.Probe] starts. It makes one measurement and prints
// it in Go's benchmark format. The first argument is the question; flags configure it. Both
// are internal to this package and may change with every version.
func Probe(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("the name of a question is required")
	}
	questions := map[string]func(*flag.FlagSet) func() (results.Sample, error){
		"dispatch": probeDispatch,
		"channel": func(f *flag.FlagSet) func() (results.Sample, error) {
			return probeChannel(f, stdin, stdout)
		},
		"spawn":   probeSpawn,
		"waiting": probeWaiting,
		"started": probeStarted,
		"files":   func(f *flag.FlagSet) func() (results.Sample, error) { return probeFiles(ctx, f) },
		"engine":  func(f *flag.FlagSet) func() (results.Sample, error) { return probeEngine(ctx, f) },
		"upload":  func(f *flag.FlagSet) func() (results.Sample, error) { return probeUpload(ctx, f) },
		"rename":  func(f *flag.FlagSet) func() (results.Sample, error) { return probeRename(ctx, f) },
		"log":     probeLog,
		"lock":    probeLock,
		"procs":   probeProcs,
		"workers": probeWorkers,
		"corpus":  func(f *flag.FlagSet) func() (results.Sample, error) { return probeCorpus(ctx, f) },
		"make":    func(f *flag.FlagSet) func() (results.Sample, error) { return probeMake(ctx, f) },
		"wakeup":  probeWakeUp,
		blockWord: func(f *flag.FlagSet) func() (results.Sample, error) { return probeBlock(f, stdin, stdout) },
	}
	if args[0] == serveWord { // a server for another probe, not a question
		return probeServe(ctx, args[1:], stdin, stdout)
	}
	question, ok := questions[args[0]]
	if !ok {
		return fmt.Errorf("unknown question %q", args[0])
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

func probeDispatch(f *flag.FlagSet) func() (results.Sample, error) {
	mode := f.String("mode", "single", "")
	workers := f.Int("workers", 1, "")
	tasks := f.Int("tasks", 1, "")
	return func() (results.Sample, error) {
		c, err := probe.Dispatch(*mode, *workers, *tasks)
		return run.NewSample(c), err
	}
}

func probeChannel(f *flag.FlagSet, stdin io.Reader, stdout io.Writer) func() (results.Sample, error) {
	o := probe.ChannelOptions{}
	f.IntVar(&o.Items, "items", 1_000_000, "")
	f.IntVar(&o.Portion, "portion", 100_000, "")
	f.IntVar(&o.Cycles, "cycles", 0, "")
	f.IntVar(&o.Buffer, "buffer", 0, "")
	gated := f.Bool(run.Gate, false, "print a line when ready, and start when standard input ends")
	return func() (results.Sample, error) {
		if *gated {
			fmt.Fprintln(stdout, run.Ready)
			if _, err := io.Copy(io.Discard, stdin); err != nil {
				return results.Sample{}, err
			}
		}
		c, err := probe.Channel(o)
		if err != nil {
			return results.Sample{}, err
		}
		slices.Sort(c.Portions)
		return run.NewSample(c.Cost, results.Value{Unit: portionUnit, Figure: c.Portions[len(c.Portions)/2].Seconds()}, results.Value{Unit: threadsUnit, Figure: float64(c.Threads)}), nil
	}
}

func probeSpawn(f *flag.FlagSet) func() (results.Sample, error) {
	o := probe.SpawnOptions{}
	f.IntVar(&o.Roots, "work", 1, "")
	f.IntVar(&o.Calls, "count", 1, "")
	mode := f.String("mode", "direct", "")
	return func() (results.Sample, error) {
		o.Go = *mode == "each"
		c, err := probe.Spawn(o)
		return run.NewSample(c), err
	}
}

func probeWaiting(f *flag.FlagSet) func() (results.Sample, error) {
	count := f.Int("count", 1, "")
	return func() (results.Sample, error) {
		w := probe.Waiting(*count)
		n := float64(w.Start.N)
		s := run.NewSample(w.Start, results.Value{Unit: stackUnit, Figure: float64(w.Stack) / n}, results.Value{Unit: sysUnit, Figure: float64(w.Sys) / n})
		if w.ResidentKnown {
			s.Values = append(s.Values, results.Value{Unit: rssUnit, Figure: float64(w.Resident) / n})
		}
		return s, nil
	}
}

func probeStarted(f *flag.FlagSet) func() (results.Sample, error) {
	goroutines := f.Int("goroutines", 1, "")
	each := f.Duration("each", 0, "")
	return func() (results.Sample, error) {
		n := probe.StartedThreads(*goroutines, *each)
		return results.Sample{N: *goroutines, Values: []results.Value{{Unit: threadsUnit, Figure: float64(n)}}}, nil
	}
}

// probeProcs reports the GOMAXPROCS of its process.
func probeProcs(*flag.FlagSet) func() (results.Sample, error) {
	return func() (results.Sample, error) {
		return results.Sample{N: 1, Values: []results.Value{{Unit: procsUnit, Figure: float64(runtime.GOMAXPROCS(0))}}}, nil
	}
}

func probeWorkers(f *flag.FlagSet) func() (results.Sample, error) {
	o := probe.WorkersOptions{}
	f.IntVar(&o.Workers, "workers", 1, "")
	f.IntVar(&o.Tasks, "tasks", 1, "")
	f.IntVar(&o.Roots, "roots", 0, "")
	f.DurationVar(&o.Wait, "wait", 0, "")
	return func() (results.Sample, error) {
		c, err := probe.Workers(o)
		return run.NewSample(c), err
	}
}

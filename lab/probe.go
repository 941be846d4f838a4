package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/record"
)

// Probe runs in the process that [Options.Probe] starts. It makes one measurement and prints
// it in Go's benchmark format. The first argument is the question; flags configure it. Both
// are internal to this package and may change with every version.
func Probe(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("the name of a question is required")
	}
	questions := map[string]func(*flag.FlagSet) answer{
		"dispatch": probeDispatch,
		"channel":  func(f *flag.FlagSet) answer { return probeChannel(f, stdin, stdout) },
		"spawn":    probeSpawn,
		"waiting":  probeWaiting,
		"started":  probeStarted,
		"files":    func(f *flag.FlagSet) answer { return probeFiles(ctx, f) },
		"engine":   func(f *flag.FlagSet) answer { return probeEngine(ctx, f) },
		"upload":   func(f *flag.FlagSet) answer { return probeUpload(ctx, f) },
		"rename":   func(f *flag.FlagSet) answer { return probeRename(ctx, f) },
		"log":      probeLog,
		"lock":     probeLock,
		"procs":    probeProcs,
		"workers":  probeWorkers,
		"corpus":   func(f *flag.FlagSet) answer { return probeCorpus(ctx, f) },
		"make":     func(f *flag.FlagSet) answer { return probeMake(ctx, f) },
		"wakeup":   probeWakeUp,
		blockWord:  func(f *flag.FlagSet) answer { return probeBlock(f, stdin, stdout) },
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
	measure := question(f)
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	s, err := measure()
	if err != nil {
		return err
	}
	s.Name = args[0]
	_, err = fmt.Fprintln(stdout, s)
	return err
}

// An answer makes the measurement of a question, once the flags are parsed.
type answer func() (results.Sample, error)

// costOf answers with a cost alone.
func costOf(measure func() (probe.Cost, error)) answer {
	return func() (results.Sample, error) {
		c, err := measure()
		return run.NewSample(c), err
	}
}

func probeDispatch(f *flag.FlagSet) answer {
	mode := f.String("mode", "single", "")
	workers := f.Int("workers", 1, "")
	tasks := f.Int("tasks", 1, "")
	return costOf(func() (probe.Cost, error) { return probe.Dispatch(*mode, *workers, *tasks) })
}

func probeChannel(f *flag.FlagSet, stdin io.Reader, stdout io.Writer) answer {
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

func probeSpawn(f *flag.FlagSet) answer {
	o := probe.SpawnOptions{}
	f.IntVar(&o.Roots, "work", 1, "")
	f.IntVar(&o.Calls, "count", 1, "")
	mode := f.String("mode", "direct", "")
	return costOf(func() (probe.Cost, error) {
		o.Go = *mode == "each"
		return probe.Spawn(o)
	})
}

func probeWaiting(f *flag.FlagSet) answer {
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

func probeStarted(f *flag.FlagSet) answer {
	goroutines := f.Int("goroutines", 1, "")
	each := f.Duration("each", 0, "")
	return func() (results.Sample, error) {
		n := probe.StartedThreads(*goroutines, *each)
		return results.Sample{N: *goroutines, Values: []results.Value{{Unit: threadsUnit, Figure: float64(n)}}}, nil
	}
}

// probeProcs reports the GOMAXPROCS of its process.
func probeProcs(*flag.FlagSet) answer {
	return func() (results.Sample, error) {
		return results.Sample{N: 1, Values: []results.Value{{Unit: procsUnit, Figure: float64(runtime.GOMAXPROCS(0))}}}, nil
	}
}

func probeWorkers(f *flag.FlagSet) answer {
	o := probe.WorkersOptions{}
	f.IntVar(&o.Workers, "workers", 1, "")
	f.IntVar(&o.Tasks, "tasks", 1, "")
	f.IntVar(&o.Roots, "roots", 0, "")
	f.DurationVar(&o.Wait, "wait", 0, "")
	return costOf(func() (probe.Cost, error) { return probe.Workers(o) })
}

// probeCorpus runs a command over a corpus, as muster record does, and discards the golden.
func probeCorpus(ctx context.Context, f *flag.FlagSet) answer {
	archive := f.String("archive", "", "")
	dir := f.String("dir", "", "")
	jobs := f.Int("jobs", 0, "")
	words := commandFlag(f)
	return func() (results.Sample, error) {
		self, err := os.Executable()
		if err != nil {
			return results.Sample{}, err
		}
		sum, err := record.Run(ctx, regress.Options{
			Corpus:  regress.Corpus{Path: *archive},
			Command: regress.Command{Words: append(*words, "{in}", "-o", "{out}")},
			Limits:  regress.Limits{Jobs: *jobs},
			Judge:   regress.CompareOptions{Repeat: 1},
			Store:   regress.Store{Golden: filepath.Join(*dir, "golden"), State: filepath.Join(*dir, "state")},
			Report:  regress.Report{Format: regress.Text, Quiet: true},
			Helper:  []string{self},
		}, host.Host{Stdout: io.Discard, Stderr: io.Discard})
		if err != nil {
			return results.Sample{}, err
		}
		return run.NewSample(probe.Cost{N: sum.Cases, Wall: sum.Wall, CPU: sum.CPU + sum.OwnCPU}), nil
	}
}

// commandFlag defines the flag that commandFlags writes.
func commandFlag(f *flag.FlagSet) *[]string {
	words := &[]string{}
	f.Func("word", "", func(word string) error {
		*words = append(*words, word)
		return nil
	})
	return words
}

// probeMake compiles all C sources below a folder with GNU make.
func probeMake(ctx context.Context, f *flag.FlagSet) answer {
	sources := f.String("sources", "", "")
	jobs := f.Int("jobs", 1, "")
	words := commandFlag(f)
	return func() (results.Sample, error) {
		cases, err := prepareMake(*sources, *words)
		if err != nil {
			return results.Sample{}, err
		}
		c := exec.CommandContext(ctx, "make", "-k", "-s", "-j"+strconv.Itoa(*jobs), "-f", makefileName)
		c.Dir = *sources
		c.Env = makeEnviron()
		var stderr strings.Builder
		c.Stderr = &stderr
		began := time.Now()
		err = c.Run() // the exit status is 2, because some sources do not compile
		wall := time.Since(began)
		if c.ProcessState == nil {
			return results.Sample{}, err
		}
		made, e := filesBelow(*sources, ".o")
		if e != nil {
			return results.Sample{}, e
		}
		if len(made) <= len(cases)/2 { // the disk is full, or this is not GNU make
			first, _, _ := strings.Cut(stderr.String(), "\n")
			return results.Sample{}, errors.Join(fmt.Errorf("make compiled %d of %d sources: %s", len(made), len(cases), first), err)
		}
		return run.NewSample(probe.Cost{N: len(cases), Wall: wall, CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}), nil
	}
}

// makefileName is a file beside the sources. If make read its rules from a pipe, it would copy
// them to the system's folder for temporary files, which may be full.
const makefileName = "Makefile"

// prepareMake lists the sources and writes the makefile. It first removes earlier outputs,
// which would leave make without work.
func prepareMake(dir string, compiler []string) (cases []string, err error) {
	outputs, err := filesBelow(dir, ".o")
	if err != nil {
		return nil, err
	}
	for _, name := range outputs {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if cases, err = filesBelow(dir, ".c"); err != nil {
		return nil, err
	}
	return cases, os.WriteFile(filepath.Join(dir, makefileName), []byte(makefile(cases, compiler)), 0o644)
}

// filesBelow lists the files with a suffix below a folder, relative to that folder.
func filesBelow(dir, end string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, end) {
			names = append(names, strings.TrimPrefix(path, dir+string(filepath.Separator)))
		}
		return err
	})
	return names, err
}

// makefile returns rules that compile each source.
func makefile(cases, compiler []string) string {
	var b strings.Builder
	b.WriteString("all:")
	for _, name := range cases {
		b.WriteString(" \\\n " + name + ".o")
	}
	// Without this rule make searches for sources of these two targets, and prints messages.
	b.WriteString("\n.PHONY: all\n" + makefileName + ": ;\n")
	b.WriteString("%.o: %\n\t@")
	for _, word := range compiler {
		b.WriteString(recipeWord(word) + " ")
	}
	b.WriteString("$< -o $@\n")
	return b.String()
}

// recipeWord quotes a word of a makefile's recipe for make and the shell.
func recipeWord(word string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(word, "'", `'\''`), "$", "$$") + "'"
}

// makeEnviron returns the environment without variables that configure make. Under a parent
// make, they would change the number of jobs or disable the work.
func makeEnviron() (environ []string) {
	for _, pair := range os.Environ() {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES", "MAKELEVEL":
		default:
			environ = append(environ, pair)
		}
	}
	return environ
}

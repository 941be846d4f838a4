package lab

import (
	"cmp"
	"context"
	"encoding/json"
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
// it in Go's benchmark format. The first argument is the question; the others are flags. All
// are internal to this package and may change with every version.
func Probe(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("the name of a question is required")
	}
	answers := map[string]answer{
		"dispatch": decoded(probeDispatch),
		"channel":  decoded(probeChannel),
		"spawn":    decoded(probeSpawn),
		"waiting":  decoded(probeWaiting),
		"started":  decoded(probeStarted),
		"files":    decoded(probeFiles),
		"engine":   decoded(probeEngine),
		"upload":   decoded(probeUpload),
		"rename":   decoded(probeRename),
		"log":      decoded(probeLog),
		"lock":     decoded(probeLock),
		"procs":    probeProcs,
		"workers":  decoded(probeWorkers),
		"corpus":   decoded(probeCorpus),
		"make":     decoded(probeMake),
		"wakeup":   decoded(probeWakeUp),
		blockWord:  decoded(probeBlock),
		serveWord:  decoded(probeServe),
	}
	answer, ok := answers[args[0]]
	if !ok {
		return fmt.Errorf("unknown question %q", args[0])
	}
	in := input{ctx: ctx, stdin: stdin, stdout: stdout}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&in.options, optionsFlag, "{}", "")
	f.Func(wordFlag, "", func(word string) error {
		in.words = append(in.words, word)
		return nil
	})
	f.StringVar(&in.dir, "dir", "", "an empty folder")
	f.BoolVar(&in.gated, run.Gate, false, "print a line when ready, and start when standard input ends")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	s, err := answer(in)
	if err != nil || args[0] == serveWord { // a server for another probe, not a question
		return err
	}
	s.Name = args[0]
	_, err = fmt.Fprintln(stdout, s)
	return err
}

// input has the streams and flags of a probe.
type input struct {
	ctx     context.Context
	options string // of the question, as JSON
	words   []string
	dir     string
	gated   bool
	stdin   io.Reader
	stdout  io.Writer
}

// sources returns the words of a [compileQuestion].
func (in input) sources() (path string, compiler []string, err error) {
	if len(in.words) < 2 {
		return "", nil, errors.New("sources and a compiler are required")
	}
	return in.words[0], in.words[1:], nil
}

// An answer makes the measurement of a question.
type answer func(input) (results.Sample, error)

// decoded returns an answer that decodes the options of its question first.
func decoded[O any](answer func(input, O) (results.Sample, error)) answer {
	return func(in input) (s results.Sample, err error) {
		var o O
		d := json.NewDecoder(strings.NewReader(in.options))
		d.DisallowUnknownFields()
		if err = d.Decode(&o); err == nil {
			s, err = answer(in, o)
		}
		return s, err
	}
}

// costOf returns a sample that has only a cost.
func costOf(c probe.Cost, err error) (results.Sample, error) { return run.NewSample(c), err }

func probeDispatch(_ input, o dispatchQuestion) (results.Sample, error) {
	return costOf(probe.Dispatch(o.Impl, o.Mode, o.Workers, o.Tasks))
}

func probeChannel(in input, o channelQuestion) (results.Sample, error) {
	if in.gated {
		fmt.Fprintln(in.stdout, run.Ready)
		if _, err := io.Copy(io.Discard, in.stdin); err != nil {
			return results.Sample{}, err
		}
	}
	c, err := probe.Channel(o.ChannelOptions)
	if err != nil {
		return results.Sample{}, err
	}
	var each []results.Value
	for i, portion := range c.Portions { // a portion may have fewer items than the unit
		each = append(each, results.Value{Unit: portionName(i + 1), Figure: portion.Seconds() * channelPortion / float64(o.Portion)})
	}
	sorted := slices.SortedFunc(slices.Values(each), func(a, b results.Value) int { return cmp.Compare(a.Figure, b.Figure) })
	s := run.NewSample(c.Cost, results.Value{Unit: portionUnit, Figure: sorted[len(sorted)/2].Figure}, results.Value{Unit: threadsUnit, Figure: float64(c.Threads)})
	if o.Portions {
		s.Values = append(s.Values, each...)
	}
	return s, nil
}

func probeSpawn(_ input, o probe.SpawnOptions) (results.Sample, error) { return costOf(probe.Spawn(o)) }

func probeWaiting(_ input, o waitingQuestion) (results.Sample, error) {
	w := probe.Waiting(o.Goroutines)
	n := float64(w.Start.N)
	s := run.NewSample(w.Start, results.Value{Unit: stackUnit, Figure: float64(w.Stack) / n}, results.Value{Unit: sysUnit, Figure: float64(w.Sys) / n})
	if w.ResidentKnown {
		s.Values = append(s.Values, results.Value{Unit: rssUnit, Figure: float64(w.Resident) / n})
	}
	return s, nil
}

func probeStarted(_ input, o startedQuestion) (results.Sample, error) {
	n := probe.StartedThreads(o.Goroutines, o.Each)
	return results.Sample{N: o.Goroutines, Values: []results.Value{{Unit: threadsUnit, Figure: float64(n)}}}, nil
}

// probeProcs reports the GOMAXPROCS of its process.
func probeProcs(input) (results.Sample, error) {
	return results.Sample{N: 1, Values: []results.Value{{Unit: procsUnit, Figure: float64(runtime.GOMAXPROCS(0))}}}, nil
}

func probeWorkers(_ input, o probe.WorkersOptions) (results.Sample, error) {
	return costOf(probe.Workers(o))
}

// probeCorpus runs a command over a corpus, as muster record does, and discards the golden.
func probeCorpus(in input, o compileQuestion) (results.Sample, error) {
	sources, compiler, err := in.sources()
	if err != nil {
		return results.Sample{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return results.Sample{}, err
	}
	began := probe.Times()
	sum, err := record.Run(in.ctx, regress.Options{
		Corpus:  regress.Corpus{Path: sources},
		Command: regress.Command{Words: append(compiler, "{in}", "-o", "{out}")},
		Limits:  regress.Limits{Jobs: o.Jobs},
		Judge:   regress.CompareOptions{Repeat: 1},
		Store:   regress.Store{Golden: filepath.Join(in.dir, "golden"), State: filepath.Join(in.dir, "state")},
		Report:  regress.Report{Format: regress.Text, Quiet: true},
		Helper:  []string{self},
	}, host.Host{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		return results.Sample{}, err
	}
	return commandSample(sum.Cases, sum.Wall, probe.Times().Since(began)), nil
}

// probeMake compiles all C sources below a folder with GNU make.
func probeMake(in input, o compileQuestion) (results.Sample, error) {
	sources, compiler, err := in.sources()
	if err != nil {
		return results.Sample{}, err
	}
	cases, err := prepareMake(sources, compiler)
	if err != nil {
		return results.Sample{}, err
	}
	c := exec.CommandContext(in.ctx, "make", "-k", "-s", "-j"+strconv.Itoa(o.Jobs), "-f", makefileName)
	c.Dir = sources
	c.Env = makeEnviron()
	var stderr strings.Builder
	c.Stderr = &stderr
	began := time.Now()
	err = c.Run() // the exit status is 2, because some sources do not compile
	wall := time.Since(began)
	if c.ProcessState == nil {
		return results.Sample{}, err
	}
	made, e := filesBelow(sources, ".o")
	if e != nil {
		return results.Sample{}, e
	}
	if len(made) <= len(cases)/2 { // the disk is full, or this is not GNU make
		first, _, _ := strings.Cut(stderr.String(), "\n")
		return results.Sample{}, errors.Join(fmt.Errorf("make compiled %d of %d sources: %s", len(made), len(cases), first), err)
	}
	return commandSample(len(cases), wall, probe.CPUTimes{User: c.ProcessState.UserTime(), System: c.ProcessState.SystemTime()}), nil
}

// commandSample returns the cost of a case, with user and system time.
func commandSample(cases int, wall time.Duration, used probe.CPUTimes) results.Sample {
	each := func(d time.Duration) float64 { return float64(d) / float64(cases) }
	return run.NewSample(probe.Cost{N: cases, Wall: wall, CPU: used.User + used.System},
		results.Value{Unit: userUnit, Figure: each(used.User)}, results.Value{Unit: systemUnit, Figure: each(used.System)})
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

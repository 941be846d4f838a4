package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"muster/lab/native"
	"muster/lab/probe"
)

// IOOptions says what [IO] measures.
type IOOptions struct {
	Options
	Dir          string // where files are written, in folders of their own; "" = where the system has temporary files
	Files        int    // of each size
	Renames      int    // files that are renamed into one folder, and into ten
	ThreadsLimit int    // of the program that is to be stopped for having too many; 0 = Go's own, 10,000
}

// What is measured: the sizes and connections of the article's file service.
const (
	logLines        = 30_000
	lockPairs       = 500_000
	wakeUpPasses    = 50_000
	codecOps        = 30_000
	callOps         = 1_000_000
	echoConnections = 500
	echoOps         = 20_000
)

func fileSizes() []int   { return []int{5_000, 50_000} }
func fileWorkers() []int { return []int{1, 32} }
func someOrMany() []int  { return []int{1, 8} }
func renameDirs() []int  { return []int{1, 10} }
func codecSizes() []int  { return []int{38, 4096} }

// IO measures what lies around files: operations on them, names in one folder or in ten,
// a log, messages, calls into C, locks and wake-ups; and what becomes of a Go program
// that needs more threads than it may have.
func IO(ctx context.Context, o IOOptions) (*Results, error) {
	if err := checkNumbers("files", 1, 10_000_000, o.Files); err != nil {
		return nil, err
	}
	if err := checkNumbers("renames", 10, 100_000_000, o.Renames); err != nil {
		return nil, err
	}
	if o.ThreadsLimit != 0 {
		if err := checkNumbers("limit of threads", threadsLimitMin, probe.ThreadsMax, o.ThreadsLimit); err != nil {
			return nil, err
		}
	}
	dir, err := folderFor(o.Dir)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(&o.Options, "io", Pair{"files", strconv.Itoa(o.Files)}, Pair{"renames", strconv.Itoa(o.Renames)}, Pair{"dir", dir})
	if err != nil {
		return nil, err
	}
	peers, err := p.compile(ctx, native.Call, native.Codec)
	if err != nil {
		return nil, err
	}
	p.addFiles(o)
	p.addLog(o)
	p.addWaits(o)
	for _, one := range peers {
		p.addCrossing(one)
	}
	p.add(trial{
		name: exhaustName(o.ThreadsLimit), most: 1, estimate: 3 * time.Second,
		do: func(ctx context.Context) (Sample, absence, error) { return exhaust(ctx, o) },
	})
	return p.results, p.measure(ctx)
}

// threadsLimitMin leaves room for the threads that every Go program has.
const threadsLimitMin = 20

// folderFor is the folder in which files are to be written, by its whole path.
func folderFor(dir string) (string, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", inputf("%s is no folder in which files could be written: make it, or name another", dir)
	}
	// Before anything is measured.
	made, err := os.MkdirTemp(dir, "muster-lab-")
	if err == nil {
		err = os.Remove(made)
	}
	if err != nil {
		return "", inputf("no folder can be made in %s: %w: name another", dir, err)
	}
	return filepath.Abs(dir)
}

// filesTrial is a trial of this program's own that writes files.
func filesTrial(o *IOOptions, name string, estimate time.Duration, args ...string) trial {
	t := probeTrial(&o.Options, name, 0, estimate, args...)
	t.folder, t.folderIn = true, o.Dir
	return t
}

// probeTrial is a trial of this program's own.
func probeTrial(o *Options, name string, procs int, estimate time.Duration, args ...string) trial {
	return trial{name: name, procs: procs, estimate: estimate, command: append(slices.Clone(o.Probe), args...)}
}

func (p *plan) addFiles(o IOOptions) {
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			p.add(filesTrial(&o, filesName(size, workers), time.Duration(o.Files)*60*time.Microsecond,
				"files", "-files", strconv.Itoa(o.Files), "-size", strconv.Itoa(size), "-workers", strconv.Itoa(workers)))
		}
	}
	for _, folders := range renameDirs() {
		p.add(filesTrial(&o, layoutName(folders), time.Duration(o.Renames)*30*time.Microsecond,
			"layout", "-files", strconv.Itoa(o.Renames), "-folders", strconv.Itoa(folders)))
	}
}

func filesName(size, workers int) string {
	return fmt.Sprintf("Files/size=%d/workers=%d", size, workers)
}
func layoutName(folders int) string { return fmt.Sprintf("Rename/folders=%d", folders) }

func (p *plan) addLog(o IOOptions) {
	for _, logger := range probe.LogFormats() {
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range someOrMany() {
				p.add(filesTrial(&o, logName(logger, buffered, goroutines), logLines*time.Microsecond,
					"log", "-logger", logger, "-lines", strconv.Itoa(logLines),
					"-goroutines", strconv.Itoa(goroutines), "-buffered="+strconv.FormatBool(buffered)))
			}
		}
	}
}

func logName(logger string, buffered bool, goroutines int) string {
	return fmt.Sprintf("Log/logger=%s/buffered=%t/goroutines=%d", logger, buffered, goroutines)
}

// addWaits adds locks and wake-ups.
func (p *plan) addWaits(o IOOptions) {
	for _, goroutines := range someOrMany() {
		p.add(probeTrial(&o.Options, lockName(goroutines), 0, lockPairs*40*time.Nanosecond,
			"lock", "-goroutines", strconv.Itoa(goroutines), "-pairs", strconv.Itoa(lockPairs)))
	}
	for _, procs := range []int{1, 2} {
		p.add(probeTrial(&o.Options, wakeUpName(false, procs), procs, wakeUpPasses*200*time.Nanosecond,
			"wakeup", "-passes", strconv.Itoa(wakeUpPasses)))
	}
	p.add(probeTrial(&o.Options, wakeUpName(true, 2), 2, wakeUpPasses/10*5*time.Microsecond,
		"wakeup", "-threads", "-passes", strconv.Itoa(wakeUpPasses/10)))
}

func lockName(goroutines int) string { return fmt.Sprintf("Lock/goroutines=%d", goroutines) }

func wakeUpName(ofThreads bool, procs int) string {
	of := "goroutine"
	if ofThreads {
		of = "thread"
	}
	return fmt.Sprintf("WakeUp/of=%s/procs=%d", of, procs)
}

// addCrossing adds calls into C, and messages.
func (p *plan) addCrossing(one peer) {
	run := func(name string, ops int, estimate time.Duration, args ...string) {
		p.add(trial{
			name: name, dir: one.dir, estimate: time.Duration(ops) * estimate,
			command: append(slices.Concat(one.command, args), "-ops", strconv.Itoa(ops)),
		})
	}
	switch one.impl {
	case "cgo", "go":
		for _, goroutines := range someOrMany() {
			run(callName(one.impl, goroutines), callOps, 30*time.Nanosecond,
				"-mode", "call", "-goroutines", strconv.Itoa(goroutines))
		}
	default:
		for _, size := range codecSizes() {
			run(codecName(one.impl, size), codecOps, 5*time.Microsecond, "-mode", "codec", "-size", strconv.Itoa(size))
		}
		run(echoName(one.impl), echoOps, 10*time.Microsecond, "-mode", "echo", "-goroutines", strconv.Itoa(echoConnections))
	}
}

func callName(impl string, goroutines int) string {
	return fmt.Sprintf("Call/impl=%s/goroutines=%d", impl, goroutines)
}
func codecName(impl string, size int) string { return fmt.Sprintf("Codec/impl=%s/size=%d", impl, size) }
func echoName(impl string) string {
	return fmt.Sprintf("Echo/impl=%s/connections=%d", impl, echoConnections)
}

// exitStatus is the unit of how a program ended.
const exitStatus = "exit-status"

func exhaustName(limit int) string {
	if limit == 0 {
		limit = probe.ThreadsMax
	}
	return fmt.Sprintf("Exhaust/limit=%d", limit)
}

// exhaust has a program stopped for its threads, unless the machine is too small to try.
func exhaust(ctx context.Context, o IOOptions) (Sample, absence, error) {
	e, err := probe.Exhaust(ctx, probe.ExhaustOptions{
		Command: append(slices.Clone(o.Probe), blockWord, "-limit", strconv.Itoa(o.ThreadsLimit)),
		Limit:   o.ThreadsLimit,
	})
	var cannot *probe.CannotTell
	if errors.As(err, &cannot) {
		return Sample{}, absence(cannot.Error()), nil
	}
	if err != nil {
		return Sample{}, "", err
	}
	return Sample{
		Name: exhaustName(o.ThreadsLimit), N: 1,
		Values: []Value{{nsPerOp, float64(e.Wall)}, {threads, float64(e.Threads)}, {exitStatus, float64(e.Status)}},
	}, "", nil
}

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

	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// IOOptions says what [IO] measures.
type IOOptions struct {
	Options
	Dir          string // where files are written, in folders of their own; "" = where the system has temporary files
	Files        int    // of each size
	Stored       int    // files of each size that are put into a store and got from it, by each engine
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

// IO measures what lies around files: operations on them, engines for them, names in one folder or in ten,
// a log, messages, calls into C, locks and wake-ups; and what becomes of a Go program
// that needs more threads than it may have.
func IO(ctx context.Context, o IOOptions) (*Results, error) {
	if err := checkNumbers("files", 1, 10_000_000, o.Files); err != nil {
		return nil, err
	}
	if err := checkNumbers("stored files", 1, 10_000_000, o.Stored); err != nil {
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
	plan, err := run.New(&o.Options, "io", results.Pair{Key: "files", Value: strconv.Itoa(o.Files)},
		results.Pair{Key: "stored", Value: strconv.Itoa(o.Stored)}, results.Pair{Key: "renames", Value: strconv.Itoa(o.Renames)}, results.Pair{Key: "dir", Value: dir})
	if err != nil {
		return nil, err
	}
	p := planner{plan}
	peers, err := p.Peers(ctx, native.Call, native.Codec)
	if err != nil {
		return nil, err
	}
	p.addFiles(o)
	p.addEngines(o)
	p.addLog(o)
	p.addWaits()
	for _, one := range peers {
		p.addCrossing(one)
	}
	p.addExhaust(o.Probe, o.ThreadsLimit)
	return p.Results, p.Measure(ctx)
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

// files is a trial of this program's own that writes files, below dir.
func (p planner) files(dir, name string, estimate time.Duration, args ...string) run.Trial {
	t := p.Probe(name, estimate, args...)
	t.Folder, t.FolderIn = true, dir
	return t
}

func (p planner) addFiles(o IOOptions) {
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			p.Add(p.wholeFiles(o.Dir, o.Files, size, workers))
		}
	}
	for _, folders := range renameDirs() {
		p.Add(p.renames(o.Dir, o.Renames, folders))
	}
}

// wholeFiles is a trial of operations on whole files.
func (p planner) wholeFiles(dir string, files, size, workers int) run.Trial {
	return p.files(dir, filesName(size, workers), time.Duration(files)*60*time.Microsecond,
		"files", "-files", strconv.Itoa(files), "-size", strconv.Itoa(size), "-workers", strconv.Itoa(workers))
}

// renames is a trial of files that are renamed into so many folders.
func (p planner) renames(dir string, files, folders int) run.Trial {
	return p.files(dir, renameName(folders), time.Duration(files)*30*time.Microsecond,
		"rename", "-files", strconv.Itoa(files), "-folders", strconv.Itoa(folders))
}

func filesName(size, workers int) string {
	return fmt.Sprintf("Files/size=%d/workers=%d", size, workers)
}
func renameName(folders int) string { return fmt.Sprintf("Rename/folders=%d", folders) }

func (p planner) addLog(o IOOptions) {
	for _, logger := range probe.LogFormats() {
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range someOrMany() {
				p.Add(p.files(o.Dir, logName(logger, buffered, goroutines), logLines*time.Microsecond,
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
func (p planner) addWaits() {
	for _, goroutines := range someOrMany() {
		p.Add(p.Probe(lockName(goroutines), lockPairs*40*time.Nanosecond,
			"lock", "-goroutines", strconv.Itoa(goroutines), "-pairs", strconv.Itoa(lockPairs)))
	}
	for _, procs := range []int{1, 2} {
		t := p.Probe(wakeUpName(false, procs), wakeUpPasses*200*time.Nanosecond, "wakeup", "-passes", strconv.Itoa(wakeUpPasses))
		t.Procs = procs
		p.Add(t)
	}
	t := p.Probe(wakeUpName(true, 2), wakeUpPasses/10*5*time.Microsecond, "wakeup", "-threads", "-passes", strconv.Itoa(wakeUpPasses/10))
	t.Procs = 2
	p.Add(t)
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
func (p planner) addCrossing(one run.Peer) {
	add := func(name string, ops int, estimate time.Duration, args ...string) {
		p.Add(one.Trial(name, time.Duration(ops)*estimate, append(args, "-ops", strconv.Itoa(ops))...))
	}
	switch one.Impl {
	case "cgo", "go":
		for _, goroutines := range someOrMany() {
			add(callName(one.Impl, goroutines), callOps, 30*time.Nanosecond,
				"-mode", "call", "-goroutines", strconv.Itoa(goroutines))
		}
	default:
		for _, size := range codecSizes() {
			add(codecName(one.Impl, size), codecOps, 5*time.Microsecond, "-mode", "codec", "-size", strconv.Itoa(size))
		}
		p.Add(echo(one, echoOps))
	}
}

// echo is a trial of messages over sockets.
func echo(one run.Peer, ops int) run.Trial {
	return one.Trial(echoName(one.Impl), time.Duration(ops)*10*time.Microsecond,
		"-mode", "echo", "-goroutines", strconv.Itoa(echoConnections), "-ops", strconv.Itoa(ops))
}

func callName(impl string, goroutines int) string {
	return fmt.Sprintf("Call/impl=%s/goroutines=%d", impl, goroutines)
}
func codecName(impl string, size int) string { return fmt.Sprintf("Codec/impl=%s/size=%d", impl, size) }
func echoName(impl string) string {
	return fmt.Sprintf("Echo/impl=%s/connections=%d", impl, echoConnections)
}

func exhaustName(limit int) string {
	if limit == 0 {
		limit = probe.ThreadsMax
	}
	return fmt.Sprintf("Exhaust/limit=%d", limit)
}

// addExhaust adds a program that is stopped for its threads, unless the machine is too
// small to try.
func (p planner) addExhaust(command []string, limit int) {
	p.Add(run.Trial{
		Name: exhaustName(limit), Times: 1, Estimate: 3 * time.Second,
		Do: func(ctx context.Context) (results.Sample, string, error) {
			return exhaust(ctx, probe.ExhaustOptions{
				Command: append(slices.Clone(command), blockWord, "-limit", strconv.Itoa(limit)), Limit: limit,
			})
		},
	})
}

func exhaust(ctx context.Context, o probe.ExhaustOptions) (s results.Sample, why string, err error) {
	e, err := probe.Exhaust(ctx, o)
	var cannot *probe.CannotTell
	if errors.As(err, &cannot) {
		return s, cannot.Error(), nil
	}
	if err != nil {
		return s, "", err
	}
	return results.Sample{N: 1, Values: []results.Value{
		{Unit: results.NsPerOp, Figure: float64(e.Wall)}, {Unit: threads, Figure: float64(e.Threads)}, {Unit: exitStatus, Figure: float64(e.Status)},
	}}, "", nil
}

package lab

import (
	"cmp"
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

// IOOptions configures [IO].
type IOOptions struct {
	Options
	Dir          string // parent of the test files; "" = the system's folder for temporary files
	Files        int    // files of each size
	Stored       int    // files of each size that each engine puts into a store and reads back
	Renames      int    // files that are renamed into one folder, and into ten
	ThreadsLimit int    // threads at which a program must end; 0 = Go's own limit, 10,000
}

// Settings of the measurements: the sizes and connections of the article's file service.
const (
	logLines        = 30_000
	lockPairs       = 500_000
	wakeUpPasses    = 50_000
	codecOps        = 30_000
	callOps         = 1_000_000
	echoConnections = 500
	echoOps         = 20_000
)

func fileSizes() []int       { return []int{5_000, 50_000} }
func fileWorkers() []int     { return []int{1, 32} }
func goroutineCounts() []int { return []int{1, 8} }
func renameFolders() []int   { return []int{1, 10} }
func codecSizes() []int      { return []int{38, 4096} }

// IO measures operations on files, their engines, renaming into one folder or ten, log lines,
// messages, calls into C, locks and wake-ups. It also shows how Go ends a program that needs
// too many threads.
func IO(ctx context.Context, o IOOptions) (*Results, error) {
	if err := cmp.Or(
		checkNumbers("files", 1, 10_000_000, o.Files),
		checkNumbers("stored files", 1, 10_000_000, o.Stored),
		checkNumbers("renames", 10, 100_000_000, o.Renames),
	); err != nil {
		return nil, err
	}
	if o.ThreadsLimit != 0 {
		if err := checkNumbers("limit of threads", threadsLimitMin, probe.ThreadsMax, o.ThreadsLimit); err != nil {
			return nil, err
		}
	}
	dir, err := checkFolder(o.Dir)
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
	for _, peer := range peers {
		p.addCrossing(peer)
	}
	p.addExhaust(o.Probe, o.ThreadsLimit)
	return p.Results, p.Measure(ctx)
}

// threadsLimitMin leaves room for the threads of every Go program.
const threadsLimitMin = 20

// checkFolder returns the absolute path of the parent of the test files. It fails if no folder
// can be created there.
func checkFolder(dir string) (string, error) {
	dir = cmp.Or(dir, os.TempDir())
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", inputf("%s is not a folder: create it, or name another", dir)
	}
	// Fail before the measurements, not during them.
	made, err := os.MkdirTemp(dir, "muster-lab-")
	if err == nil {
		err = os.Remove(made)
	}
	if err != nil {
		return "", inputf("cannot create a folder in %s: %w: name another", dir, err)
	}
	return filepath.Abs(dir)
}

// folderTrial returns a trial of this program that writes files into a temporary folder below
// dir.
func (p planner) folderTrial(dir, name string, estimate time.Duration, what string, options any, words ...string) run.Trial {
	t := p.Probe(name, estimate, question(what, options, words...)...)
	t.Folder, t.FolderIn = true, dir
	return t
}

func (p planner) addFiles(o IOOptions) {
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			p.Add(p.wholeFilesTrial(o.Dir, o.Files, size, workers))
		}
	}
	for _, folders := range renameFolders() {
		p.Add(p.renameTrial(o.Dir, o.Renames, folders))
	}
}

// wholeFilesTrial returns a trial of operations on whole files.
func (p planner) wholeFilesTrial(dir string, files, size, workers int) run.Trial {
	return p.folderTrial(dir, filesName(size, workers), time.Duration(files)*60*time.Microsecond,
		"files", probe.FilesOptions{Files: files, Size: size, Workers: workers})
}

// renameTrial returns a trial that renames files into the given number of folders.
func (p planner) renameTrial(dir string, files, folders int) run.Trial {
	return p.folderTrial(dir, renameName(folders), time.Duration(files)*30*time.Microsecond,
		"rename", probe.RenameOptions{Files: files, Folders: folders})
}

func filesName(size, workers int) string {
	return fmt.Sprintf("Files/size=%d/workers=%d", size, workers)
}
func renameName(folders int) string { return fmt.Sprintf("Rename/folders=%d", folders) }

func (p planner) addLog(o IOOptions) {
	for _, logger := range probe.LogFormats() {
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range goroutineCounts() {
				p.Add(p.folderTrial(o.Dir, logName(logger, buffered, goroutines), logLines*time.Microsecond,
					"log", probe.LogOptions{Logger: logger, Lines: logLines, Goroutines: goroutines, Buffered: buffered}))
			}
		}
	}
}

func logName(logger string, buffered bool, goroutines int) string {
	return fmt.Sprintf("Log/logger=%s/buffered=%t/goroutines=%d", logger, buffered, goroutines)
}

// addWaits adds the trials of locks and wake-ups.
func (p planner) addWaits() {
	for _, goroutines := range goroutineCounts() {
		p.Add(p.Probe(lockName(goroutines), lockPairs*40*time.Nanosecond,
			question("lock", lockQuestion{goroutines, lockPairs})...))
	}
	for _, procs := range []int{1, 2} {
		t := p.Probe(wakeUpName(false, procs), wakeUpPasses*200*time.Nanosecond, question("wakeup", wakeUpQuestion{wakeUpPasses, false})...)
		t.Procs = procs
		p.Add(t)
	}
	t := p.Probe(wakeUpName(true, 2), wakeUpPasses/10*5*time.Microsecond, question("wakeup", wakeUpQuestion{wakeUpPasses / 10, true})...)
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

// addCrossing adds the trials of calls into C, or of messages.
func (p planner) addCrossing(peer run.Peer) {
	add := func(name string, ops int, estimate time.Duration, args ...string) {
		p.Add(peer.Trial(name, time.Duration(ops)*estimate, append(args, "-ops", strconv.Itoa(ops))...))
	}
	switch peer.Impl {
	case "cgo", "go":
		for _, goroutines := range goroutineCounts() {
			add(callName(peer.Impl, goroutines), callOps, 30*time.Nanosecond,
				"-mode", "call", "-goroutines", strconv.Itoa(goroutines))
		}
	default:
		for _, size := range codecSizes() {
			add(codecName(peer.Impl, size), codecOps, 5*time.Microsecond, "-mode", "codec", "-size", strconv.Itoa(size))
		}
		p.Add(echoTrial(peer, echoOps))
	}
}

// echoTrial returns a trial of messages over sockets.
func echoTrial(peer run.Peer, ops int) run.Trial {
	return peer.Trial(echoName(peer.Impl), time.Duration(ops)*10*time.Microsecond,
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
	return fmt.Sprintf("Exhaust/limit=%d", cmp.Or(limit, probe.ThreadsMax))
}

// addExhaust adds a program that runs out of threads. The trial reports if this machine is too
// small for that.
func (p planner) addExhaust(command []string, limit int) {
	p.Add(run.Trial{
		Name: exhaustName(limit), Times: 1, Estimate: 3 * time.Second,
		Do: func(ctx context.Context) (results.Sample, string, error) {
			return exhaustThreads(ctx, probe.ExhaustOptions{
				Command: slices.Concat(command, question(blockWord, blockQuestion{limit})), Limit: limit,
			})
		},
	})
}

func exhaustThreads(ctx context.Context, o probe.ExhaustOptions) (s results.Sample, why string, err error) {
	e, err := probe.Exhaust(ctx, o)
	var cannot *probe.UnmeasurableError
	if errors.As(err, &cannot) {
		return s, cannot.Error(), nil
	}
	if err != nil {
		return s, "", err
	}
	return results.Sample{N: 1, Values: []results.Value{
		{Unit: results.NsPerOp, Figure: float64(e.Wall)}, {Unit: threadsUnit, Figure: float64(e.Threads)}, {Unit: exitStatusUnit, Figure: float64(e.Status)},
	}}, "", nil
}

// Settings of the measurements of engines: the article's threads, connections and sizes.
const (
	engineThreads     = 32
	engineGoroutines  = 64
	uploadConnections = 500
	uploadLarge       = 50_000
	uploadSmall       = 5_000
)

// availableEngines returns those of the wanted engines that this machine can run. It records
// the others as missing.
func (p planner) availableEngines(wanted ...string) []string {
	return slices.DeleteFunc(wanted, func(name string) bool {
		err := probe.EngineOptions{Name: name, Threads: 1}.CheckAvailable()
		if err != nil {
			p.addMissing(engineMissing(name), err.Error(), "")
		}
		return err != nil
	})
}

// engineMissing returns the name of an engine in the results' Missing.
func engineMissing(name string) string { return "engine " + name }

// engineOf returns the options of an engine in a probe.
func engineOf(name string, bound bool) probe.EngineOptions {
	return probe.EngineOptions{Name: name, Threads: engineThreads, Bound: bound}
}

// addEngines adds trials that put files into a store and read them back, for each engine.
func (p planner) addEngines(o IOOptions) {
	for _, name := range p.availableEngines(probe.Engines()...) {
		for _, size := range fileSizes() {
			p.Add(p.folderTrial(o.Dir, engineName(name, size), time.Duration(o.Stored)*100*time.Microsecond,
				"engine", probe.StoreOptions{Engine: engineOf(name, false), Files: o.Stored, Size: size, Goroutines: engineGoroutines}))
		}
	}
}

func engineName(name string, size int) string {
	return fmt.Sprintf("Engine/engine=%s/size=%d", name, size)
}

// An upload is one kind of upload.
type upload struct {
	engine string
	bound  bool // pin the engine's threads to processors
	size   int
}

// uploads returns the article's kinds: without a pool, with a pool in Go, and with a pool in C
// whose threads are bound to processors or not. The last one has smaller files.
func uploads() []upload {
	return []upload{
		{probe.Direct, false, uploadLarge}, {probe.Pool, false, uploadLarge},
		{probe.CThreads, true, uploadLarge}, {probe.CThreads, false, uploadLarge},
		{probe.Direct, false, uploadSmall},
	}
}

func (u upload) name() string {
	return fmt.Sprintf("Upload/engine=%s/bound=%t/size=%d", u.engine, u.bound, u.size)
}

// addUploads adds a trial for each kind of upload.
func (p planner) addUploads(o ClaimsOptions) {
	here := p.availableEngines(probe.Direct, probe.Pool, probe.CThreads)
	for _, u := range uploads() {
		if slices.Contains(here, u.engine) {
			p.Add(p.uploadTrial(o, u))
		}
	}
}

func (p planner) uploadTrial(o ClaimsOptions, u upload) run.Trial {
	server := slices.Concat(o.Probe, question(serveWord, engineOf(u.engine, u.bound)))
	// A failure here must not end the run, because it may be the disk's or the system's.
	return p.folderTrial(o.Dir, u.name(), 100*time.Millisecond+time.Duration(o.Sizes.Uploads)*150*time.Microsecond,
		"upload", probe.UploadOptions{Connections: uploadConnections, Requests: o.Sizes.Uploads, Size: u.size}, server...).AsPeer()
}

package lab

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"muster/internal/page"
	"muster/internal/readable"
	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// IOOptions configures [IO].
type IOOptions struct {
	Options
	Dir     string // parent of the test files; "" = the system's folder for temporary files
	Files   int    // files of each size
	Stored  int    // files of each size that each engine puts into a store and reads back
	Renames int    // files that are renamed into one folder, and into ten
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
	dir, err := checkFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	p, err := newPlanner(&o.Options, "io", results.Pair{Key: "files", Value: strconv.Itoa(o.Files)},
		results.Pair{Key: "stored", Value: strconv.Itoa(o.Stored)}, results.Pair{Key: "renames", Value: strconv.Itoa(o.Renames)}, results.Pair{Key: "dir", Value: dir})
	if err != nil {
		return nil, err
	}
	peers, err := p.selected(ctx, native.Call)
	if err != nil {
		return nil, err
	}
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			p.add(filesTrial(o.Dir, o.Files, size, workers))
		}
	}
	for _, folders := range renameFolders() {
		p.add(renameTrial(o.Dir, o.Renames, folders))
	}
	for _, name := range p.availableEngines(probe.Engines()...) {
		for _, size := range fileSizes() {
			p.add(o.engineTrial(name, size))
		}
	}
	for _, logger := range probe.LogFormats() {
		for _, buffered := range []bool{false, true} {
			for _, goroutines := range goroutineCounts() {
				p.add(o.logTrial(logger, buffered, goroutines))
			}
		}
	}
	for _, goroutines := range goroutineCounts() {
		p.add(lockTrial(goroutines))
	}
	p.add(wakeUpTrial("goroutine", 1, wakeUpPasses))
	p.add(wakeUpTrial("goroutine", 2, wakeUpPasses))
	p.add(wakeUpTrial("thread", 2, wakeUpPasses/10))
	for _, impl := range probe.Codecs() {
		for _, size := range codecSizes() {
			p.add(codecTrial(impl, size))
		}
		p.add(echoTrial(impl, echoOps))
	}
	for _, peer := range peers {
		for _, goroutines := range goroutineCounts() {
			p.add(peer.trial(callName(peer.Impl, goroutines), callOps*30*time.Nanosecond, "-goroutines", strconv.Itoa(goroutines), "-ops", strconv.Itoa(callOps)))
		}
	}
	p.add(exhaustTrial())
	return p.Results, p.measure(ctx)
}

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

// filesTrial returns a trial of operations on whole files below dir.
func filesTrial(dir string, files, size, workers int) trial {
	return trial{Name: fmt.Sprintf("Files/size=%d/workers=%d", size, workers), Estimate: time.Duration(files) * 60 * time.Microsecond,
		Question: probe.Files{Files: files, Size: size, Workers: workers}, Folder: true, FolderIn: dir}
}

// renameTrial returns a trial that renames files into the given number of folders.
func renameTrial(dir string, files, folders int) trial {
	return trial{Name: renameName(folders), Estimate: time.Duration(files) * 30 * time.Microsecond,
		Question: probe.Rename{Files: files, Folders: folders}, Folder: true, FolderIn: dir}
}

func renameName(folders int) string { return fmt.Sprintf("Rename/folders=%d", folders) }

// engineTrial returns a trial that puts files into a store and reads them back.
func (o IOOptions) engineTrial(name string, size int) trial {
	return trial{Name: fmt.Sprintf("Engine/engine=%s/size=%d", name, size), Estimate: time.Duration(o.Stored) * 100 * time.Microsecond,
		Question: probe.Store{Engine: engineOf(name, false), Files: o.Stored, Size: size, Goroutines: engineGoroutines}, Folder: true, FolderIn: o.Dir}
}

func (o IOOptions) logTrial(logger string, buffered bool, goroutines int) trial {
	return trial{Name: fmt.Sprintf("Log/logger=%s/buffered=%t/goroutines=%d", logger, buffered, goroutines), Estimate: logLines * time.Microsecond,
		Question: probe.Log{Logger: logger, Lines: logLines, Goroutines: goroutines, Buffered: buffered}, Folder: true, FolderIn: o.Dir}
}

func lockTrial(goroutines int) trial {
	return trial{Name: fmt.Sprintf("Lock/goroutines=%d", goroutines), Estimate: lockPairs * 40 * time.Nanosecond,
		Question: probe.Lock{Goroutines: goroutines, Pairs: lockPairs}}
}

// wakeUpTrial returns a trial that wakes goroutines or threads.
func wakeUpTrial(of string, procs, passes int) trial {
	return trial{Name: fmt.Sprintf("WakeUp/of=%s/procs=%d", of, procs), Estimate: 10 * time.Millisecond, Procs: procs,
		Question: probe.WakeUp{Passes: passes, Threads: of == "thread"}}
}

func codecTrial(impl string, size int) trial {
	return trial{Name: fmt.Sprintf("Codec/impl=%s/size=%d", impl, size), Estimate: codecOps * 5 * time.Microsecond,
		Question: probe.Codec{Impl: impl, Size: size, Ops: codecOps}}
}

// echoTrial returns a trial of messages over sockets.
func echoTrial(impl string, ops int) trial {
	return trial{Name: echoName(impl), Estimate: time.Duration(ops) * 10 * time.Microsecond,
		Question: probe.Echo{Impl: impl, Size: codecSizes()[0], Connections: echoConnections, Ops: ops}}
}

func callName(impl string, goroutines int) string {
	return fmt.Sprintf("Call/impl=%s/goroutines=%d", impl, goroutines)
}
func echoName(impl string) string {
	return fmt.Sprintf("Echo/impl=%s/connections=%d", impl, echoConnections)
}

// exhaustName is the figure of a program that exceeds its limit of threads. That is a tenth of Go's
// own limit, because a machine may not have as many threads.
const exhaustName, exhaustLimit = "Exhaust/limit=1000", 1000

// exhaustTrial returns a trial of that program. It fails if this machine has not even as many threads.
func exhaustTrial() trial {
	return trial{Name: exhaustName, Estimate: time.Second, Question: probe.Exhaust{Limit: exhaustLimit}, Helper: probe.Block{Limit: exhaustLimit}, Foreign: true, Times: 1}
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
func (p *planner) availableEngines(wanted ...string) []string {
	return slices.DeleteFunc(wanted, func(name string) bool {
		err := probe.Engine{Name: name, Threads: 1}.CheckAvailable()
		if err != nil {
			p.addMissing(engineMissing(name), err.Error(), "")
		}
		return err != nil
	})
}

// engineMissing returns the name of an engine in the results' Missing.
func engineMissing(name string) string { return "engine " + name }

// engineOf returns the options of an engine in a probe.
func engineOf(name string, bound bool) probe.Engine {
	return probe.Engine{Name: name, Threads: engineThreads, Bound: bound}
}

// An upload is one kind of upload.
type upload struct {
	engine string
	bound  bool // pin the engine's threads to processors
	size   int
}

func (u upload) name() string {
	return fmt.Sprintf("Upload/engine=%s/bound=%t/size=%d", u.engine, u.bound, u.size)
}

// addUploads adds the article's kinds: without a pool, with a pool in Go, and with a pool in C whose
// threads are bound to processors or not. The last one has smaller files.
func (p *planner) addUploads(o ClaimsOptions) {
	here := p.availableEngines(probe.Direct, probe.Pool, probe.CThreads)
	for _, u := range []upload{
		{probe.Direct, false, uploadLarge}, {probe.Pool, false, uploadLarge}, {probe.CThreads, true, uploadLarge}, {probe.CThreads, false, uploadLarge},
		{probe.Direct, false, uploadSmall},
	} {
		if slices.Contains(here, u.engine) {
			// A failure here must not end the run, because it may be the disk's or the system's.
			p.add(trial{Name: u.name(), Estimate: 100*time.Millisecond + time.Duration(o.Sizes.Uploads)*150*time.Microsecond, Foreign: true, Folder: true, FolderIn: o.Dir,
				Question: probe.Upload{Connections: uploadConnections, Requests: o.Sizes.Uploads, Size: u.size}, Helper: probe.Serve{Engine: engineOf(u.engine, u.bound)}})
		}
	}
}

// IOReport reports the results of [IO].
func IOReport(of *Results, o IOOptions) Report {
	r := view{of}
	d := newDocument(of, "The cost of files, messages, calls and locks",
		howMeasured(o.Count))
	d.Sections = []page.Section{
		r.filesSection(o), r.enginesSection(o), r.renameSection(o), r.logSection(o), r.messagesSection(), r.waitsSection(), r.exhaustSection(),
	}
	return Report{document: d}
}

func (r view) filesSection(o IOOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{
		Title: "Operations on whole files",
		Text:  []string{"These are operations of Go's package os. Nothing is flushed, and files are read just after they were written. So the figures are costs of system calls and the system's cache, not of a disk."},
	}}
	var rows, names []string
	for _, size := range fileSizes() {
		for _, workers := range fileWorkers() {
			rows = append(rows, fmt.Sprintf("%s bytes, %d at once", readable.Number(size), workers))
			names = append(names, filesTrial(o.Dir, o.Files, size, workers).Name)
		}
	}
	steps := []column{{title: "create", unit: results.CreatePerOp}, {title: "read", unit: results.ReadPerOp}, {title: "stat", unit: results.StatPerOp},
		{title: "rename", unit: results.RenamePerOp}, {title: "remove", unit: results.RemovePerOp}}
	for i := range steps {
		steps[i].divisor, steps[i].name = 1000, func(row int) string { return names[row] }
	}
	s.grid(fmt.Sprintf("µs per file, for %s files", readable.Number(o.Files)), "", rows, steps...)
	return s.Section
}

// enginesSection reports the engines' times for file operations.
func (r view) enginesSection(o IOOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{
		Title: "Engines",
		Text: []string{
			fmt.Sprintf("These are the engines of package fileio. With direct each goroutine executes its own operations, and keeps a thread while it waits for the disk. The others have %d threads: pool in Go, cthreads in C, uring in the kernel.", engineThreads),
			"Each operation is a job of the engine, and nothing is flushed. On a disk that takes writes into memory at once, the figures are the cost of the handover. On a disk that blocks, they show the benefit of a bound: name a folder there with --dir.",
		},
	}}
	var all []column
	for _, size := range fileSizes() {
		name := func(row int) string { return o.engineTrial(probe.Engines()[row], size).Name }
		bytes := readable.Number(size) + " bytes"
		all = append(all, column{title: bytes + ": put", unit: results.PutPerOp, divisor: 1000, best: true, name: name},
			column{title: "get", unit: results.GetPerOp, divisor: 1000, best: true, name: name}, column{title: "threads", unit: results.Threads, name: name})
		for _, job := range []struct{ verb, unit string }{{"put", results.PutPerOp}, {"get", results.GetPerOp}} {
			s.Pictures = append(s.Pictures, r.bars(fmt.Sprintf("Time to %s a file of %s", job.verb, bytes), "µs per file",
				probe.Engines(), job.unit, 1000, func(engine string) string { return o.engineTrial(engine, size).Name })...)
		}
	}
	s.grid(fmt.Sprintf("µs per file, for %s files that %d goroutines put into a store and then read back; and the system threads of the process",
		readable.Number(o.Stored), engineGoroutines), "engine", probe.Engines(), all...)
	return s.Section
}

func (r view) renameSection(o IOOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{
		Title: "Files renamed into one folder or several",
		Text:  []string{"In an article, renaming two million files took 183 to 320 s into one flat folder, and 33 to 46 s into ten."},
	}}
	name := func(row int) string { return renameName(renameFolders()[row]) }
	s.grid(readable.Number(o.Renames)+" files", "", texts(renameFolders(), func(n int) string { return "into " + readable.Count(n, "folder") }),
		column{title: "µs per file", unit: results.NsPerOp, divisor: 1e3, name: name},
		column{title: "seconds in total", unit: results.NsPerOp, divisor: 1e9 / float64(o.Renames), name: name})
	return s.warned()
}

func (r view) logSection(o IOOptions) page.Section {
	s := &sheet{view: r, Section: page.Section{Title: "Log lines"}}
	var all []column
	for _, buffered := range []bool{false, true} {
		suffix := ""
		if buffered {
			suffix = ", buffered"
		}
		for _, goroutines := range goroutineCounts() {
			all = append(all, column{title: readable.Count(goroutines, "goroutine") + suffix, unit: results.NsPerOp,
				name: func(row int) string { return o.logTrial(probe.LogFormats()[row], buffered, goroutines).Name }})
		}
		s.Pictures = append(s.Pictures, r.bars("A log line of one goroutine"+suffix, "ns per line", probe.LogFormats(), results.NsPerOp, 1,
			func(logger string) string { return o.logTrial(logger, buffered, 1).Name })...)
	}
	s.grid("ns per line", "", probe.LogFormats(), all...)
	return s.warned()
}

func (r view) messagesSection() page.Section {
	s := &sheet{view: r, Section: page.Section{
		Title: "Messages as protobuf and as JSON",
		Text:  []string{"An article measured 157,000 messages per second with protobuf and 114,000 with JSON, over 500 connections."},
	}}
	impls := probe.Codecs()
	var all []column
	for _, size := range codecSizes() {
		name := func(row int) string { return codecTrial(impls[row], size).Name }
		all = append(all, column{title: readable.Number(size) + " bytes", unit: results.NsPerOp, name: name}, column{title: "encoded", unit: results.Wire, name: name})
	}
	s.grid("ns to encode and decode a message, and its encoded size in bytes", "", impls, all...)
	s.grid(fmt.Sprintf("%d connections send a message of 38 bytes and wait for the answer", echoConnections), "", impls,
		column{title: "messages per second", cell: func(row int) page.Cell {
			if each := r.Summary(echoName(impls[row]), results.NsPerOp); each.Median > 0 {
				return page.Cell{Text: readable.Number(int64(1e9 / each.Median))}
			}
			return page.Cell{Text: "–"}
		}},
		column{title: "ns of processor time per message", unit: results.CPUPerOp, name: func(row int) string { return echoName(impls[row]) }})
	return s.warned()
}

func (r view) waitsSection() page.Section {
	s := &sheet{view: r, Section: page.Section{Title: "Calls, locks and wake-ups"}}
	titles := []string{"a call in Go", "a call into C", "a call into C, by 8 goroutines", "locking and unlocking", "locking and unlocking, by 8 goroutines",
		"waking a goroutine, GOMAXPROCS 1", "waking a goroutine, GOMAXPROCS 2", "waking a thread"}
	names := []string{callName("go", 1), callName("cgo", 1), callName("cgo", 8), lockTrial(1).Name, lockTrial(8).Name,
		wakeUpTrial("goroutine", 1, 0).Name, wakeUpTrial("goroutine", 2, 0).Name, wakeUpTrial("thread", 2, 0).Name}
	name := func(row int) string { return names[row] }
	s.grid("ns per operation", "", titles, column{title: "elapsed", unit: results.NsPerOp, name: name}, column{title: "processor time", unit: results.CPUPerOp, name: name})
	s.Pictures = r.bars(s.Title, "elapsed ns per operation", titles, results.NsPerOp, 1, func(title string) string { return names[slices.Index(titles, title)] })
	return s.warned()
}

func (r view) exhaustSection() page.Section {
	s := page.Section{
		Title: "A program with too many threads",
		Text:  []string{"A read that the runtime's poller cannot handle, such as that of a regular file, keeps a system thread until it ends. Go's runtime ends a program that exceeds a limit of threads."},
	}
	n := r.Summary(exhaustName, results.Threads)
	if n.N == 0 {
		s.Notes = []string{cmp.Or(r.Why(exhaustName), "It was not measured.")}
		return s
	}
	s.Text = append(s.Text, fmt.Sprintf("Go's limit here is %s threads. A process with a limit of %s exceeded it, and ended with exit status %.0f.",
		readable.Number(int64(r.Summary(exhaustName, results.ThreadsMax).Median)), readable.Number(int64(n.Median)), r.Summary(exhaustName, results.Status).Median))
	return s
}

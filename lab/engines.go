package lab

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/lab/internal/run"
	"muster/lab/probe"
)

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

// engineArgs returns the flags that select an engine in a probe.
func engineArgs(name string, bound bool) []string {
	return []string{"-engine", name, "-threads", strconv.Itoa(engineThreads), "-bound=" + strconv.FormatBool(bound)}
}

// addEngines adds trials that put files into a store and read them back, for each engine.
func (p planner) addEngines(o IOOptions) {
	for _, name := range p.availableEngines(probe.Engines()...) {
		for _, size := range fileSizes() {
			p.Add(p.folderTrial(o.Dir, engineName(name, size), time.Duration(o.Stored)*100*time.Microsecond,
				append([]string{"engine", "-files", strconv.Itoa(o.Stored), "-size", strconv.Itoa(size), "-goroutines", strconv.Itoa(engineGoroutines)},
					engineArgs(name, false)...)...))
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
	args := []string{"upload", "-connections", strconv.Itoa(uploadConnections), "-requests", strconv.Itoa(o.Sizes.Uploads), "-size", strconv.Itoa(u.size)}
	server := slices.Concat(o.Probe, []string{serveWord}, engineArgs(u.engine, u.bound))
	// A failure here must not end the run, because it may be the disk's or the system's.
	return p.folderTrial(o.Dir, u.name(), 100*time.Millisecond+time.Duration(o.Sizes.Uploads)*150*time.Microsecond,
		append(args, commandFlags(server)...)...).AsPeer()
}

package lab

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"muster/lab/internal/run"
	"muster/lab/probe"
)

// What engines are measured with: the article's threads and connections, and its sizes.
const (
	engineThreads     = 32
	engineGoroutines  = 64
	uploadConnections = 500
	uploadLarge       = 50_000
	uploadSmall       = 5_000
)

// enginesHere are those of the wanted engines that there can be here; others are among the
// results' missing.
func (p planner) enginesHere(wanted ...string) []string {
	return slices.DeleteFunc(wanted, func(name string) bool {
		err := probe.EngineOptions{Name: name, Threads: 1}.Here()
		if err != nil {
			p.lacks(engineMissing(name), err.Error(), "")
		}
		return err != nil
	})
}

// engineMissing is what there is not where an engine cannot be had.
func engineMissing(name string) string { return "engine " + name }

// engineArgs are what names an engine to a probe.
func engineArgs(name string, bound bool) []string {
	return []string{"-engine", name, "-threads", strconv.Itoa(engineThreads), "-bound=" + strconv.FormatBool(bound)}
}

// addEngines adds files that are put into a store and got from it, by each engine.
func (p planner) addEngines(o IOOptions) {
	for _, name := range p.enginesHere(probe.Engines()...) {
		for _, size := range fileSizes() {
			p.Add(p.files(o.Dir, engineName(name, size), time.Duration(o.Stored)*100*time.Microsecond,
				append([]string{"engine", "-files", strconv.Itoa(o.Stored), "-size", strconv.Itoa(size), "-goroutines", strconv.Itoa(engineGoroutines)},
					engineArgs(name, false)...)...))
		}
	}
}

func engineName(name string, size int) string {
	return fmt.Sprintf("Engine/engine=%s/size=%d", name, size)
}

// An upload is one way to upload files.
type upload struct {
	engine string
	bound  bool // the engine's threads to processors
	size   int
}

// uploads are those of the article: without a pool, with one in Go and with one in C, bound
// to processors or not; and smaller files.
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

// addUploads adds uploads of so many files each.
func (p planner) addUploads(o ClaimsOptions) {
	here := p.enginesHere(probe.Direct, probe.Pool, probe.CThreads)
	for _, u := range uploads() {
		if slices.Contains(here, u.engine) {
			p.Add(p.upload(o, u))
		}
	}
}

func (p planner) upload(o ClaimsOptions, u upload) run.Trial {
	args := []string{"upload", "-connections", strconv.Itoa(uploadConnections), "-requests", strconv.Itoa(o.Sizes.Uploads), "-size", strconv.Itoa(u.size)}
	server := slices.Concat(o.Probe, []string{serveWord}, engineArgs(u.engine, u.bound))
	// What a disk or a system does not let through keeps nothing else from being measured.
	return p.files(o.Dir, u.name(), 100*time.Millisecond+time.Duration(o.Sizes.Uploads)*150*time.Microsecond,
		append(args, commandFlags(server)...)...).AsPeer()
}

// Package lab measures what concurrency costs on this machine: tasks on pools, items through
// channels, goroutines and threads, files, and the claims of well-known articles. Each
// measurement is a process of its own. Processes of compared figures run in turns, several
// times. A result is a median with its interval, and warnings about figures that may mislead.
//
// [Dispatch], [Channel], [Spawn], [IO], [Claims] and [Advise] measure and return [Results].
// [Results.Write] writes them in Go's benchmark format, and a [Report] as tables and charts.
//
// The package must not parse flags or draw on a terminal.
package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/probe"
	"muster/lab/results"
)

// Options are common to all measurements. Progress is the state of a run. An InputError is a
// mistake in the options; nothing was measured.
type (
	Options    = run.Options
	Progress   = run.Progress
	InputError = run.InputError
)

// Results are the results of a run.
type Results = results.Results

// Compilers looks for the compilers of contestants. It returns what is there, and what is missing with
// the command that installs it.
func Compilers(ctx context.Context) ([]native.Compiler, error) { return native.Compilers(ctx) }

// MemoryFree returns how many bytes of memory this process could still take, 0 if it is unknown.
func MemoryFree() int64 { return probe.MemoryFree() }

func inputf(format string, args ...any) error {
	return &InputError{Err: fmt.Errorf(format, args...)}
}

// A planner adds the trials of this package's questions to a plan.
type planner struct{ *run.Plan }

// Flags of a probe: the options of its question, and, repeated, paths and the words of commands. JSON would
// change those that are not UTF-8.
const (
	optionsFlag = "options"
	wordFlag    = "word"
)

// question returns the arguments of a probe: the name of its question, the options, and the words.
func question(name string, options any, words ...string) []string {
	text, err := json.Marshal(options)
	if err != nil {
		panic(err) // they are numbers and texts
	}
	args := []string{name, "-" + optionsFlag, string(text)}
	for _, word := range words {
		args = append(args, "-"+wordFlag, word)
	}
	return args
}

// Options of questions. The other questions use options of package probe.
type (
	dispatchQuestion struct {
		Impl, Mode     string
		Workers, Tasks int
	}
	channelQuestion struct {
		probe.ChannelOptions
		Portions bool // report every portion
	}
	waitingQuestion struct{ Goroutines int }
	startedQuestion struct {
		Goroutines int
		Each       time.Duration
	}
	lockQuestion   struct{ Goroutines, Pairs int }
	wakeUpQuestion struct {
		Passes  int
		Threads bool
	}
	blockQuestion struct{ Limit int }
	// compileQuestion has as words the sources, which are an archive or, for make, a folder, and a compiler.
	compileQuestion struct{ Jobs int }
)

// oneAndMax returns 1 and n, without repetition.
func oneAndMax(n int) []int {
	if n > 1 {
		return []int{1, n}
	}
	return []int{1}
}

// Units besides those of time, which package results defines.
const (
	threadsUnit    = "threads"
	rssUnit        = "rss-B/op"
	stackUnit      = "stack-B/op"
	sysUnit        = "sys-B/op"
	portionUnit    = "s/portion"
	userUnit       = "user-ns/op" // of a command and its children
	systemUnit     = "sys-ns/op"
	wireUnit       = "wire-B" // size of an encoded message
	procsUnit      = "procs"
	exitStatusUnit = "exit-status" // exit status of a program

	// Steps of probe.Files.
	createUnit = "create-ns/op"
	readUnit   = "read-ns/op"
	statUnit   = "stat-ns/op"
	renameUnit = "rename-ns/op"
	removeUnit = "remove-ns/op"

	// A store of files.
	putUnit = "put-ns/op"
	getUnit = "get-ns/op"

	clientRSS = "rss-B" // of a whole process that writes to a database, at the end
)

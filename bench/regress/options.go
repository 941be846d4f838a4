package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"muster/lab/corpora"
)

// options are what the command line asks for.
type options struct {
	musters      []program
	specs        []corpora.Spec
	tools        []tool
	rounds, jobs int
	table, work  string
}

// program is one of the binaries of muster that are compared.
type program struct {
	name, path string
}

// The tables.
const (
	tableRivals  = "rivals"
	tableArticle = "article"
	tableReuse   = "reuse"
	tableGoals   = "goals"
)

var (
	specs  = []corpora.Spec{corpora.Large(), corpora.Mid(), corpora.Small(), corpora.Many()}
	tables = []string{tableRivals, tableArticle, tableReuse, tableGoals}
)

func specName(s corpora.Spec) string { return s.Name }
func toolName(t tool) string         { return t.name }
func itself(s string) string         { return s }

// parse reads the command line; help goes to out.
func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("regress", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	muster := f.String("muster", "", "the programs to measure, with commas between: `PATH or NAME=PATH`; of several each has rows with its name")
	corpus := f.String("corpus", "67MB,1KB", "some of "+known(specs, specName))
	toolNames := f.String("tool", "tcc,true", "some of "+known(tools, toolName))
	f.IntVar(&o.rounds, "rounds", 5, "rounds; each runs every rival once")
	f.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "commands at once")
	f.StringVar(&o.table, "table", tableRivals, "rivals: beside other programs; goals: whether the goals are met; reuse: check --reuse where nothing changed;\narticle: muster alone with 0, 1, 2 … 32 jobs,\nthe table of \"Multithreaded Go programming\" (habr.com/ru/post/117842, 2011) on this machine")
	f.StringVar(&o.work, "work", "/dev/shm", "folder to work in, best in memory")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(out)
		f.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, err
	}
	var errs [5]error
	o.musters, errs[0] = parsePrograms(*muster)
	o.specs, errs[1] = choose("-corpus", *corpus, specs, specName)
	o.tools, errs[2] = choose("-tool", *toolNames, tools, toolName)
	if !slices.Contains(tables, o.table) {
		errs[3] = unknown("-table", o.table, known(tables, itself))
	}
	if o.rounds < 1 || o.jobs < 1 || f.NArg() > 0 {
		errs[4] = fmt.Errorf("-rounds and -jobs are at least 1, and nothing follows the options: %q", args)
	}
	return o, errors.Join(errs[:]...)
}

// choose returns those of all that a list names, in their own order.
func choose[T any](option, list string, all []T, nameOf func(T) string) (chosen []T, err error) {
	words := strings.Split(list, ",")
	for _, w := range words {
		if !slices.ContainsFunc(all, func(v T) bool { return nameOf(v) == w }) {
			return nil, unknown(option, w, known(all, nameOf))
		}
	}
	for _, v := range all {
		if slices.Contains(words, nameOf(v)) {
			chosen = append(chosen, v)
		}
	}
	return chosen, nil
}

func unknown(option, word, known string) error {
	return fmt.Errorf("%s: %q is none of %s", option, word, known)
}

func known[T any](all []T, nameOf func(T) string) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = nameOf(v)
	}
	return strings.Join(names, ",")
}

// parsePrograms reads PATH or NAME=PATH, with commas between.
func parsePrograms(list string) (programs []program, err error) {
	for word := range strings.SplitSeq(list, ",") {
		name, path, named := strings.Cut(word, "=")
		if !named {
			path = name
		}
		if name == "" || path == "" {
			return nil, fmt.Errorf("-muster: %q is no PATH or NAME=PATH", word)
		}
		if slices.ContainsFunc(programs, func(p program) bool { return p.name == name }) {
			return nil, fmt.Errorf("-muster: two programs have the name %s: give them others (NAME=PATH)", name)
		}
		if path, err = filepath.Abs(path); err != nil {
			return nil, fmt.Errorf("-muster: %w", err)
		}
		// The processes of a run are found by what they run, and no link is that.
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, fmt.Errorf("-muster: %w", err)
		}
		programs = append(programs, program{name, path})
	}
	return programs, nil
}

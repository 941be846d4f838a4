package main

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/fileio/pooled"
	"muster/files/load"
)

// engineFlags say which servers load engines starts.
type engineFlags struct {
	ops       []string
	ioThreads int
	sync      string
}

// What load engines does where nothing is said: the article's load, but for its 200,000
// requests, which are for disks that are measured for minutes.
var enginesArgs = []string{"500", "20000", "50K"}

func (p *program) loadEngines() *cobra.Command {
	var l loadFlags
	var e engineFlags
	o := load.EnginesOptions{}
	c := &cobra.Command{
		Use:   "engines [CONCURRENCY [REQUESTS [SIZE]]] [flags]",
		Short: "The same load with every engine in turn, in one table",
		Long: `Engines starts muster serve with one engine after another, each time a new process over
a new folder, and puts each under the same load: by default 500 connections that write
20,000 files of 50 KB, and read them. The table has medians of several rounds, and the
most OS threads that the server had in any. An engine that is not here is named, with
the reason.`,
		Example: `  muster load engines
  muster load engines 500 200000 50K --data /mnt/slow --html engines.html
  muster load engines --engines direct,pool --op upload,delete --rounds 5`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > len(enginesArgs) {
				return usagef("engines takes [CONCURRENCY [REQUESTS [SIZE]]], not %q", strings.Join(args, " "))
			}
			if err := parseLoad(append(args, enginesArgs[len(args):]...), &o.Load); err != nil {
				return err
			}
			return p.compareEngines(c, &l, &e, o)
		},
	}
	c.DisableFlagsInUseLine = true
	l.add(c.Flags(), &o.Load)
	e.add(c.Flags(), &o)
	return c
}

func (e *engineFlags) add(f *pflag.FlagSet, o *load.EnginesOptions) {
	f.StringSliceVar(&e.ops, "op", []string{string(load.Upload), string(load.Download)}, "ask each server for these `OPERATIONS`, in this order")
	f.StringSliceVar(&o.Engines, "engines", enginesKnown(), "compare these `ENGINES`, as serve --io names them")
	f.IntVar(&o.Rounds, "rounds", 3, "start each engine `N` times, in turns, and take medians")
	f.StringVar(&o.Dir, "data", "", "let the servers write below `DIR`, and take it all away again (default: where the system has temporary files)")
	f.IntVar(&e.ioThreads, "io-threads", 32, "start `N` threads for files in each server, where the engine has a bound")
	f.StringVar(&e.sync, "sync", "none", "flush what was written `WHEN`: none, fdatasync or group")
}

// enginesKnown are all there are, in the order in which they are measured.
func enginesKnown() []string { return []string{ioDirect, ioPool, ioCThreads, ioURing} }

func (p *program) compareEngines(c *cobra.Command, l *loadFlags, e *engineFlags, o load.EnginesOptions) error {
	if err := checkFiles(map[string]string{"--html": l.html}); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, engine := range o.Engines {
		if !slices.Contains(enginesKnown(), engine) {
			return usagef("--engines: no engine %q%s: there are %s", engine, suggest(engine, enginesKnown()), strings.Join(enginesKnown(), ", "))
		}
	}
	if _, err := syncNamed(e.sync); err != nil {
		return err
	}
	if e.ioThreads < 1 || e.ioThreads > pooled.ThreadsMax {
		return usagef("--io-threads %d: from 1 to %d are possible", e.ioThreads, pooled.ThreadsMax)
	}
	for _, op := range e.ops {
		o.Ops = append(o.Ops, load.Op(strings.TrimSpace(op)))
	}
	o.Instead = poolInstead
	o.Server = func(engine, data string) []string {
		return []string{
			self, "serve", "--addr", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", data,
			"--io", engine, "--io-threads", strconv.Itoa(e.ioThreads), "--sync", e.sync,
		}
	}
	end := p.prepare(l, &o.Load)
	comparison, err := load.Engines(c.Context(), o)
	end()
	if comparison == nil {
		return loadError(err)
	}
	if len(comparison.Runs) > 0 {
		err = errors.Join(loadError(err), p.showLoad(l, comparison))
	}
	if err == nil && comparison.Failed() > 0 {
		return statusError(1)
	}
	return err
}

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

// engineFlags configure the servers of load engines.
type engineFlags struct {
	ops       []string
	ioThreads int
	sync      string
}

// enginesArgs are the defaults: the article's load with fewer requests. The article's 200,000
// requests suit disks that take minutes.
var enginesArgs = []string{"500", "20000", "50K"}

func (p *program) loadEngines() *cobra.Command {
	var l loadFlags
	var e engineFlags
	o := load.EnginesOptions{}
	c := &cobra.Command{
		Use:   "engines [CONCURRENCY [REQUESTS [SIZE]]] [flags]",
		Short: "Compare the engines of serve under the same load",
		Long: `Engines starts muster serve with one engine after another, each time as a new process with
a new folder. Each server gets the same load. By default 500 connections write 20,000 files
of 50 KB and read them. The table shows medians of several rounds, and the largest number
of OS threads of the server. Unavailable engines are listed with the reason.`,
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
	f.StringSliceVar(&e.ops, "op", []string{string(load.Upload), string(load.Download)}, "run these `OPERATIONS` on each server, in this order")
	f.StringSliceVar(&o.Engines, "engines", enginesKnown(), "compare these `ENGINES`, as serve --io names them")
	f.IntVar(&o.Rounds, "rounds", 3, "start each engine `N` times, in turns, and show medians")
	f.StringVar(&o.Dir, "data", "", "store the servers' files below `DIR` and delete them afterwards (default: the system's temporary folder)")
	f.IntVar(&e.ioThreads, "io-threads", 32, "start `N` threads for file operations in each server, if the engine limits its threads")
	f.StringVar(&e.sync, "sync", "none", "flush files to the disk `WHEN`: none, fdatasync or group")
}

// enginesKnown returns all engines, in the order of measuring.
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
	if _, err := parseSync(e.sync); err != nil {
		return err
	}
	if e.ioThreads < 1 || e.ioThreads > pooled.ThreadsMax {
		return usagef("--io-threads %d: from 1 to %d are possible", e.ioThreads, pooled.ThreadsMax)
	}
	for _, op := range e.ops {
		o.Ops = append(o.Ops, load.Op(strings.TrimSpace(op)))
	}
	o.FallbackText = poolInstead
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

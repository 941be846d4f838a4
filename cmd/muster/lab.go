package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/lab"
	"muster/regress"
)

func (p *program) lab() *cobra.Command {
	c := &cobra.Command{
		Use:   "lab",
		Short: "Measure what concurrency costs on this machine",
		Long: `Lab measures what workers, channels, goroutines and threads cost on this machine,
beside other pools and other languages. Every figure comes from a process of its own,
started several times in turns with what it is compared with; what is printed is a
median, the interval in which it lies, and what is wrong with it.`,
		Example: `  muster lab dispatch                        what a task costs that is handed to a pool
  muster lab channel --html channel.html     channels against GOMAXPROCS, with plots
  muster lab spawn --peers go,java           goroutines against Java's threads`,
		Args: unknownSubcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddGroup(&cobra.Group{ID: measureGroup, Title: "Measure:"})
	for _, sub := range []*cobra.Command{p.labDispatch(), p.labChannel(), p.labSpawn(), p.labIO(), p.labClaims(), p.labAdvise()} {
		sub.GroupID = measureGroup
		c.AddCommand(sub)
	}
	c.AddCommand(p.labProbe())
	return c
}

// labFlags are common to all that measures.
type labFlags struct {
	count        int
	full, resume bool
	out, html    string
	format       format
	quiet        bool
}

// countDefault is the least from which an interval can have a confidence of 95 %.
const countDefault = 6

func (l *labFlags) add(f *pflag.FlagSet) {
	l.format = format(regress.Text)
	f.IntVar(&l.count, "count", countDefault, "take each figure `N` times; an interval at 95 % needs 6")
	f.StringVar(&l.out, "out", "", "write every result to `FILE` as it comes, as Go's benchmarks do, fit for benchstat")
	f.BoolVar(&l.resume, "resume", false, "do not measure again what --out FILE has from an interrupted run")
	f.StringVar(&l.html, "html", "", "write tables and plots to `FILE`, one page that needs no other")
	f.Var(&l.format, "format", "print results as `FORMAT`: text or json")
	f.BoolVarP(&l.quiet, "quiet", "q", false, "show no progress")
}

// addFull offers what is not measured otherwise, for it takes long.
func (l *labFlags) addFull(f *pflag.FlagSet, what string) {
	f.BoolVar(&l.full, "full", false, what)
}

// labRun is what measures, and what shows that.
type labRun struct {
	measure func(context.Context) (*lab.Results, error)
	report  func(*lab.Results) lab.Report
}

// measure runs a measurement with what the flags say, which goes into o, and shows its
// results; those of a run that ended early too.
func (p *program) measure(ctx context.Context, l *labFlags, o *lab.Options, run labRun) (err error) {
	if err := l.check(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Count, o.Version = l.count, versionText()
	o.Probe = []string{self, "lab", probeWord}
	if cache, err := os.UserCacheDir(); err == nil { // else what needs none is measured
		o.Cache = filepath.Join(cache, "muster", "contestants")
	}
	if l.out != "" {
		j := &journal{name: l.out}
		if o.Earlier, err = j.begin(l.resume); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, j.Close()) }()
		o.Journal = j
	}
	progress := newStatusLine(p.stderr, l.quiet)
	o.Progress = func(now lab.Progress) { progress.show(progressLine(now)) }
	results, err := run.measure(ctx)
	progress.end()
	if err == nil {
		return p.showResults(l, results, run.report(results))
	}
	if results != nil && len(results.Samples) > 0 {
		err = errors.Join(err, p.showResults(l, results, run.report(results)))
		if l.out != "" {
			fmt.Fprintf(p.stderr, "muster: what was measured is in %s; --resume goes on\n", l.out)
		}
	}
	return err
}

// check refuses, before hours of measuring, what could not be written after them.
func (l *labFlags) check() error {
	if l.resume && l.out == "" {
		return usagef("--resume needs --out FILE, the results of the interrupted run")
	}
	return checkFiles(map[string]string{"--out": l.out, "--html": l.html})
}

// showResults shows them in every way that is asked for, for one may fail.
func (p *program) showResults(l *labFlags, results *lab.Results, d lab.Report) error {
	var page error
	if l.html != "" {
		page = writePage(l.html, d.HTML)
	}
	if l.format == format(regress.JSON) {
		return errors.Join(page, d.JSON(p.stdout, results))
	}
	return errors.Join(page, d.Text(p.stdout))
}

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
and compares them with other pools and languages. Each measurement is a process of its
own. Compared figures are measured in turns, several times. Lab prints medians,
confidence intervals and warnings about figures that may mislead.`,
		Example: `  muster lab dispatch                        the cost of a task on a pool
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

// labFlags are the flags of all measurements.
type labFlags struct {
	count        int
	full, resume bool
	out, html    string
	format       format
	quiet        bool
}

// countDefault is the smallest number of runs with a 95 % interval.
const countDefault = 6

func (l *labFlags) add(f *pflag.FlagSet) {
	l.format = format(regress.Text)
	f.IntVar(&l.count, "count", countDefault, "measure each figure `N` times; an interval at 95 % needs 6")
	f.StringVar(&l.out, "out", "", "write each result to `FILE` at once, in Go's benchmark format, for benchstat")
	f.BoolVar(&l.resume, "resume", false, "resume the interrupted run that wrote --out FILE")
	f.StringVar(&l.html, "html", "", "write tables and plots to `FILE`, a self-contained page")
	f.Var(&l.format, "format", "print results as `FORMAT`: text or json")
	f.BoolVarP(&l.quiet, "quiet", "q", false, "show no progress")
}

// addFull adds --full, for sizes that take a long time.
func (l *labFlags) addFull(f *pflag.FlagSet, usage string) {
	f.BoolVar(&l.full, "full", false, usage)
}

// labRun is a measurement and its report.
type labRun struct {
	measure func(context.Context) (*lab.Results, error)
	report  func(*lab.Results) lab.Report
}

// measure copies the flags to o, runs the measurement and prints the results. It prints them
// too if the run ended early.
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
	if cache, err := os.UserCacheDir(); err == nil { // without a cache folder, some contestants are missing
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
			fmt.Fprintf(p.stderr, "muster: the results so far are in %s; continue with --resume\n", l.out)
		}
	}
	return err
}

// check fails before hours of measuring if the results could not be written after them.
func (l *labFlags) check() error {
	if l.resume && l.out == "" {
		return usagef("--resume needs --out FILE, with the results of the interrupted run")
	}
	return checkFiles(map[string]string{"--out": l.out, "--html": l.html})
}

// showResults writes all requested forms, even if one fails.
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

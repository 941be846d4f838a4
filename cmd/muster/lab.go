package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/readable"
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
  muster lab channel --html channel.html     channels against GOMAXPROCS, with charts
  muster lab spawn --peers go,java           goroutines against Java's threads`,
		Args: unknownSubcommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	addGroup(c, "Measure", p.labDispatch(), p.labChannel(), p.labSpawn(), p.labIO(), p.labClaims(), p.labAdvise())
	c.AddCommand(p.labProbe())
	return c
}

// labFlags are the flags of all measurements.
type labFlags struct {
	count        int
	full, resume bool
	out, html    string
	svg          string
	format       regress.Format
	quiet        bool
}

// countDefault is the smallest number of runs with a 95 % interval.
const countDefault = 6

func (l *labFlags) add(f *pflag.FlagSet) {
	f.IntVar(&l.count, "count", countDefault, "measure each figure `N` times; an interval at 95 % needs 6")
	f.StringVar(&l.out, "out", "", "write each result to `FILE` at once, in Go's benchmark format, for benchstat")
	f.BoolVar(&l.resume, "resume", false, "resume the interrupted run that wrote --out FILE")
	f.StringVar(&l.html, "html", "", "write tables and charts to `FILE`, as one self-contained page")
	f.StringVar(&l.svg, "svg", "", "write each chart to a file in `DIR`, as SVG")
	f.Var(newFormat(&l.format), "format", "print results as `FORMAT`: text or json")
	f.BoolVarP(&l.quiet, "quiet", "q", false, "show no progress")
}

// measure copies the flags to common, which is a part of the options o, runs the measurement and
// prints the results. It prints them too if the run ended early.
func measure[O any](ctx context.Context, p *program, l *labFlags, common *lab.Options, o *O,
	run func(context.Context, O) (*lab.Results, error), report func(*lab.Results, O) lab.Report) (err error) {
	if err := l.check(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	common.Count, common.Version = l.count, thisBuild().version
	common.Probe = []string{self, "lab", probeWord}
	if cache, err := os.UserCacheDir(); err == nil { // without a cache folder, some contestants are missing
		common.Cache = filepath.Join(cache, "muster", "contestants")
	}
	if l.out != "" {
		j := &journal{name: l.out}
		if common.Earlier, err = j.begin(l.resume); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, j.Close()) }()
		common.Journal = j
	}
	progress := newStatusLine(p.stderr, l.quiet)
	common.Progress = func(now lab.Progress) { progress.show(progressLine(now)) }
	results, err := run(ctx, *o)
	progress.end()
	show := func() error {
		r := report(results, *o)
		return errors.Join(p.showReport(l.html, l.format, labReport{r, results}), l.writeCharts(r))
	}
	if err == nil {
		return show()
	}
	if results != nil && len(results.Samples) > 0 {
		err = errors.Join(err, show())
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
	if l.svg != "" {
		if info, err := os.Stat(l.svg); err != nil || !info.IsDir() {
			return usagef("--svg: %s is not a folder: create it, or name another", l.svg)
		}
	}
	return checkFiles(map[string]string{"--out": l.out, "--html": l.html})
}

// writeCharts writes each chart to a file of --svg. The number in its name is that of its place in the report.
func (l *labFlags) writeCharts(r lab.Report) error {
	if l.svg == "" {
		return nil
	}
	for i, c := range r.Charts() {
		words := strings.FieldsFunc(strings.ToLower(c.Title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		var b bytes.Buffer
		if err := c.SVG(&b); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(l.svg, fmt.Sprintf("%02d-%s.svg", i+1, strings.Join(words, "-"))), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// labReport is a report with the results that its JSON contains.
type labReport struct {
	lab.Report
	results *lab.Results
}

func (r labReport) JSON(w io.Writer) error { return r.Report.JSON(w, r.results) }

func (p *program) labAdvise() *cobra.Command {
	var l labFlags
	o := lab.AdviseOptions{}
	c := &cobra.Command{
		Use:   "advise [flags]",
		Short: "Recommend settings: workers, GOMAXPROCS, chunks, threads",
		Long: `Advise measures this machine and recommends settings for a concurrent program:
GOMAXPROCS, workers for tasks that compute or wait, the number of small tasks per chunk,
the least work for a goroutine, and workers for files. Each setting has its
measurements.`,
		Example: `  muster lab advise
  muster lab advise --task 250ns            the chunk size for tasks of 250 ns
  muster lab advise --dir /srv/data --format json`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			return measure(c.Context(), p, &l, &o.Options, &o, lab.Advise, lab.AdviseReport)
		},
	}
	l.add(c.Flags())
	c.Flags().DurationVar(&o.Task, "task", 0, "recommend a chunk size for tasks of this `DURATION`, such as 250ns or 3us (default: several durations)")
	c.Flags().StringVar(&o.Dir, "dir", "", "write test files below `DIR`, and remove them (default: the system's folder for temporary files)")
	return c
}

func (p *program) labClaims() *cobra.Command {
	var l labFlags
	o := lab.ClaimsOptions{}
	c := &cobra.Command{
		Use:   "claims [flags]",
		Short: "Measure the claims of well-known articles on concurrency",
		Long: `Claims measures 32 claims of four well-known articles on Go and concurrency. It reports
which hold on this machine, which no longer hold, and which stay undecided and why.
Claims about the runner use muster record and make, on a generated corpus of C sources.
Claims about a file service use a server that writes below --dir.
--full uses the articles' sizes, except for the corpus (a fifteenth) and for tasks and
uploads (a tenth).`,
		Example: `  muster lab claims
  muster lab claims --html claims.html
  muster lab claims --full --count 10 --out claims.txt`,
		Args: noneWanted,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Sizes = lab.ClaimsQuick(); l.full {
				o.Sizes = lab.ClaimsFull()
			}
			return measure(c.Context(), p, &l, &o.Options, &o, lab.Claims, lab.ClaimsReport)
		},
	}
	l.add(c.Flags())
	c.Flags().BoolVar(&l.full, "full", false, "use nearly the articles' sizes; takes about an hour")
	c.Flags().StringVar(&o.Dir, "dir", "", "write the corpus and other files below `DIR`, and remove them (default: the system's folder for temporary files)")
	return c
}

// A journal is the file of --out. The first result creates or replaces it, so a mistake in
// another flag does not destroy earlier results.
type journal struct {
	name string
	file *os.File
}

// begin returns the results of the interrupted run if resume is set, and appends new ones to
// them. It returns nil if the file has none.
func (j *journal) begin(resume bool) (earlier io.Reader, err error) {
	if !resume {
		return nil, nil
	}
	text, err := os.ReadFile(j.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // drop an incomplete last line
	if len(text) == 0 {
		return nil, nil
	}
	if j.file, err = os.OpenFile(j.name, os.O_WRONLY, 0); err != nil {
		return nil, err
	}
	if err = j.file.Truncate(int64(len(text))); err == nil {
		_, err = j.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return bytes.NewReader(text), nil
}

func (j *journal) Write(text []byte) (int, error) {
	if j.file == nil {
		file, err := os.Create(j.name)
		if err != nil {
			return 0, err
		}
		j.file = file
	}
	return j.file.Write(text)
}

func (j *journal) Close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

// progressLine formats the progress of a run. It is drawn only between measurements, so that
// it does not disturb them.
func progressLine(p lab.Progress) string {
	if p.Total == 0 || p.Next == "" {
		return p.Next
	}
	left := ""
	if p.Left >= 0 {
		left = ", " + readable.Duration(p.Left) + " left"
	}
	return fmt.Sprintf("%s of %s%s: %s", readable.Number(p.Done), readable.Number(p.Total), left, p.Next)
}

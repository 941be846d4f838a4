// Command causes measures how well muster groups the differences between the outputs of two
// versions of a tool. The tools are real ones over real sources, and a compiler with planted
// changes, whose truth is known. It prints tables as Markdown, with the limits.
//
//	go run ./causes -muster ../bin/muster -only esbuild,gofmt
//	go run ./causes -muster ../bin/muster -only biome -judge 60
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "causes:", err)
		os.Exit(1)
	}
}

// options are what the command line asks for.
type options struct {
	muster, cache, work string
	only                []string
	jobs, judge         int
	share               float64
	seed                uint64
	sources             int
	median              float64
}

// The rows that are not pairs of real tools.
const (
	planted = "planted"
	large   = "large"
)

func parse(args []string, out io.Writer) (o options, err error) {
	f := flag.NewFlagSet("causes", flag.ContinueOnError)
	f.SetOutput(out)
	var known []string
	for _, p := range pairs(tools{}) {
		known = append(known, p.name)
	}
	known = append(known, planted, large)
	only := f.String("only", strings.Join(known, ","), "which of them, with commas between")
	f.StringVar(&o.muster, "muster", "", "the program to measure")
	f.StringVar(&o.cache, "cache", "", "where scripts/install-test-tools and install-causes-tools put the tools\n(default: MUSTER_TEST_CACHE, else muster-test in the user's cache folder)")
	f.StringVar(&o.work, "work", "/dev/shm", "folder to work in, best in memory")
	f.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "commands at once")
	f.Float64Var(&o.share, "share", 1, "how many times the usual number of cases; 0 = all there are")
	f.IntVar(&o.judge, "judge", 0, "print so many pairs of edits that are called one cause, for a person to judge, and no table")
	f.Uint64Var(&o.seed, "seed", 1, "of what is drawn by chance")
	f.IntVar(&o.sources, "sources", 3000, "programs for the planted changes")
	f.Float64Var(&o.median, "lines", 75, "lines that the middle one of them has")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.only = strings.Split(*only, ",")
	for _, word := range o.only {
		if !slices.Contains(known, word) {
			return o, fmt.Errorf("-only: %q is none of %s", word, strings.Join(known, ","))
		}
	}
	if o.cache == "" {
		if o.cache, err = defaultCache(); err != nil {
			return o, err
		}
	}
	if o.muster == "" {
		return o, errors.New("-muster names the program to measure")
	}
	o.muster, err = filepath.Abs(o.muster)
	return o, err
}

func defaultCache() (string, error) {
	if named := os.Getenv("MUSTER_TEST_CACHE"); named != "" {
		return named, nil
	}
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "muster-test"), err
}

// bench is a measurement under way.
type bench struct {
	options
	out io.Writer
	dir string
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	b := bench{options: o, out: out}
	if b.dir, err = os.MkdirTemp(o.work, "muster-causes-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.head(ctx)
	if err := b.real(ctx); err != nil {
		return err
	}
	if b.judge == 0 && slices.Contains(b.only, planted) {
		if err := b.planted(ctx); err != nil {
			return err
		}
	}
	if b.judge == 0 && slices.Contains(b.only, large) {
		return b.large(ctx)
	}
	return nil
}

// head says on what and when this was measured.
func (b *bench) head(ctx context.Context) {
	version, _ := exec.CommandContext(ctx, b.muster, "version").Output()
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Fprintf(b.out, "Measured %s on %d CPUs (%s), kernel %s, %s, %s; load before %s.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), runtime.GOARCH, strings.TrimSpace(string(kernel)),
		runtime.Version(), strings.TrimSpace(string(version)), strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " "))
}

// Command regress measures muster check beside other ways to run a tool over
// many sources: whole processes, interleaved, several rounds, medians. It prints
// a table as Markdown.
//
//	go run ./regress -muster ../bin/muster -corpus 67MB,1KB -tool tcc,true
//	go run ./regress -muster ../bin/muster -corpus 67MB -table article
//	go run ./regress -muster old=/tmp/muster,new=../bin/muster
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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "regress:", err)
	}
	os.Exit(exitStatus(err))
}

// errUsage says that the command line is at fault.
var errUsage = errors.New("see regress -help")

func exitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		return 2
	}
	return 1
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, errUsage)
	}
	b := bench{options: o, out: out}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.head(ctx)
	for _, spec := range o.specs {
		for _, t := range o.tools {
			if err := b.measure(ctx, spec, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// bench is a measurement under way.
type bench struct {
	options
	out         io.Writer
	dir, goport string
}

func (b *bench) prepare(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp(b.work, "muster-bench-"); err != nil {
		return err
	}
	b.goport = filepath.Join(b.dir, "goport")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.goport, "./goport").CombinedOutput(); err != nil {
		os.RemoveAll(b.dir)
		return fmt.Errorf("build goport in the folder bench: %w\n%s", err, out)
	}
	return nil
}

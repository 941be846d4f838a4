// Command regress measures muster check beside other ways to run a tool over
// many sources: whole processes, interleaved, several rounds, medians. It prints
// a table as Markdown.
//
//	go run ./regress -muster ../bin/muster -corpus 67MB,1KB -tool tcc,true
//	go run ./regress -muster ../bin/muster -corpus 67MB -table article
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"muster/bench/corpora"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	var b bench
	var sizes, toolNames, table string
	flag.StringVar(&b.muster, "muster", "", "the program to measure")
	flag.StringVar(&sizes, "corpus", "67MB,1KB", "some of 1GB,67MB,1KB")
	flag.StringVar(&toolNames, "tool", "tcc,true", "some of tcc,gcc,true")
	flag.IntVar(&b.rounds, "rounds", 5, "rounds; each runs every rival once")
	flag.IntVar(&b.jobs, "jobs", runtime.NumCPU(), "commands at once")
	flag.StringVar(&table, "table", "rivals", "rivals, or article: muster alone by number of jobs")
	flag.StringVar(&b.work, "work", "/dev/shm", "folder to work in, best in memory")
	flag.Parse()
	if err := b.prepare(); err != nil {
		return err
	}
	defer os.RemoveAll(b.work)
	b.head()
	for _, spec := range []corpora.Spec{corpora.Large, corpora.Mid, corpora.Small} {
		for _, t := range tools {
			if !has(sizes, spec.Name) || !has(toolNames, t.name) {
				continue
			}
			do := b.compare
			if table == "article" {
				do = b.article
			}
			if err := do(ctx, spec, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func has(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// bench is a measurement under way.
type bench struct {
	muster, goport, work string
	rounds, jobs         int
}

func (b *bench) prepare() (err error) {
	if b.muster, err = filepath.Abs(b.muster); err != nil {
		return err
	}
	if b.muster, err = filepath.EvalSymlinks(b.muster); err != nil {
		return fmt.Errorf("-muster: %w", err)
	}
	if b.work, err = os.MkdirTemp(b.work, "muster-bench-"); err != nil {
		return err
	}
	b.goport = filepath.Join(b.work, "goport")
	if out, err := exec.Command("go", "build", "-o", b.goport, "./goport").CombinedOutput(); err != nil {
		return fmt.Errorf("build goport in the folder bench: %w\n%s", err, out)
	}
	return nil
}

package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
	"muster/regress"
)

// probeCorpus runs a command over a corpus, as muster record does, and keeps nothing.
func probeCorpus(ctx context.Context, f *flag.FlagSet) func() (results.Sample, error) {
	archive := f.String("archive", "", "")
	dir := f.String("dir", "", "")
	jobs := f.Int("jobs", 0, "")
	words := commandFlag(f)
	return func() (results.Sample, error) {
		self, err := os.Executable()
		if err != nil {
			return results.Sample{}, err
		}
		sum, err := regress.Record(ctx, regress.Options{
			Corpus:  regress.Corpus{Path: *archive},
			Command: regress.Command{Words: append(*words, "{in}", "-o", "{out}")},
			Limits:  regress.Limits{Jobs: *jobs},
			Judge:   regress.Judgement{Repeat: 1},
			Store:   regress.Store{Golden: filepath.Join(*dir, "golden"), State: filepath.Join(*dir, "state")},
			Report:  regress.Report{Format: regress.Text, Quiet: true, Stdout: io.Discard, Stderr: io.Discard},
			Helper:  []string{self},
		})
		if err != nil {
			return results.Sample{}, err
		}
		return run.SampleOf(probe.Cost{N: sum.Cases, Wall: sum.Wall, CPU: sum.CPU + sum.OwnCPU}), nil
	}
}

// commandFlag reads what commandFlags writes.
func commandFlag(f *flag.FlagSet) *[]string {
	words := &[]string{}
	f.Func("word", "", func(word string) error {
		*words = append(*words, word)
		return nil
	})
	return words
}

// probeMake compiles all C sources below a folder with GNU make.
func probeMake(ctx context.Context, f *flag.FlagSet) func() (results.Sample, error) {
	sources := f.String("sources", "", "")
	jobs := f.Int("jobs", 1, "")
	words := commandFlag(f)
	return func() (results.Sample, error) {
		cases, err := prepareMake(*sources, *words)
		if err != nil {
			return results.Sample{}, err
		}
		c := exec.CommandContext(ctx, "make", "-k", "-s", "-j"+strconv.Itoa(*jobs), "-f", makefileName)
		c.Dir = *sources
		c.Env = environOfMake()
		var said strings.Builder
		c.Stderr = &said
		began := time.Now()
		err = c.Run() // with status 2, for some sources do not compile
		wall := time.Since(began)
		if c.ProcessState == nil {
			return results.Sample{}, err
		}
		made, e := filesBelow(*sources, ".o")
		if e != nil {
			return results.Sample{}, e
		}
		if len(made) <= len(cases)/2 { // a full disk, or a make that is not GNU's
			first, _, _ := strings.Cut(said.String(), "\n")
			return results.Sample{}, errors.Join(fmt.Errorf("make compiled %d of %d sources: %s", len(made), len(cases), first), err)
		}
		return run.SampleOf(probe.Cost{N: len(cases), Wall: wall, CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}), nil
	}
}

// makefileName is a file beside the sources: what make reads from a pipe it keeps where the
// system has temporary files, which may be full.
const makefileName = "Makefile"

// prepareMake lists the sources and writes what make is to do with them. It takes away what
// an earlier run made of them, or make would have nothing to do.
func prepareMake(dir string, compiler []string) (cases []string, err error) {
	outputs, err := filesBelow(dir, ".o")
	if err != nil {
		return nil, err
	}
	for _, name := range outputs {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if cases, err = filesBelow(dir, ".c"); err != nil {
		return nil, err
	}
	return cases, os.WriteFile(filepath.Join(dir, makefileName), []byte(makefile(cases, compiler)), 0o644)
}

// filesBelow lists files with that end below a folder, from there on.
func filesBelow(dir, end string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, end) {
			names = append(names, strings.TrimPrefix(path, dir+string(filepath.Separator)))
		}
		return err
	})
	return names, err
}

// makefile has make compile every source.
func makefile(cases, compiler []string) string {
	var b strings.Builder
	b.WriteString("all:")
	for _, name := range cases {
		b.WriteString(" \\\n " + name + ".o")
	}
	// Or make looks for what these two could be made from, and says what it found.
	b.WriteString("\n.PHONY: all\n" + makefileName + ": ;\n")
	b.WriteString("%.o: %\n\t@")
	for _, word := range compiler {
		b.WriteString(recipeWord(word) + " ")
	}
	b.WriteString("$< -o $@\n")
	return b.String()
}

// recipeWord is a word of a make's recipe as the shell is to see it.
func recipeWord(word string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(word, "'", `'\''`), "$", "$$") + "'"
}

// environOfMake is this process's environment without what is for make: under one of the
// caller's, or with its flags, this one would take its jobs from there, or none.
func environOfMake() (environ []string) {
	for _, pair := range os.Environ() {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES", "MAKELEVEL":
		default:
			environ = append(environ, pair)
		}
	}
	return environ
}

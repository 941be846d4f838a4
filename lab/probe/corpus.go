package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"muster/lab/results"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/record"
)

// Corpus runs a compiler over an archive, as muster record does, and discards the golden. Its
// words are the archive and the compiler's command, without a source and an output.
type Corpus struct{ Jobs int } // workers; 0 = no pool

func (o Corpus) measure(in Input) (s results.Sample, err error) {
	archive, compiler, err := in.sources()
	if err != nil {
		return s, err
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	used := func() cpuTimes { return usage(syscall.RUSAGE_SELF).plus(usage(syscall.RUSAGE_CHILDREN)) }
	began := used()
	sum, err := record.Run(in.ctx, regress.Options{
		Corpus:  regress.Corpus{Path: archive},
		Command: regress.Command{Words: append(compiler, "{in}", "-o", "{out}")},
		Limits:  regress.Limits{Jobs: o.Jobs},
		Judge:   regress.CompareOptions{Repeat: 1},
		Store:   regress.Store{Golden: filepath.Join(in.dir, "golden"), State: filepath.Join(in.dir, "state")},
		Report:  regress.Report{Format: regress.Text, Quiet: true},
		Helper:  []string{self},
	}, host.Host{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		return s, err
	}
	return commandSample(sum.Cases, sum.Wall, used().since(began)), nil
}

// Make compiles all C sources below a folder with GNU make. Its words are the folder and the
// compiler's command.
type Make struct{ Jobs int }

func (o Make) measure(in Input) (s results.Sample, err error) {
	sources, compiler, err := in.sources()
	if err != nil {
		return s, err
	}
	cases, err := prepareMake(sources, compiler)
	if err != nil {
		return s, err
	}
	c := exec.CommandContext(in.ctx, "make", "-k", "-s", "-j"+strconv.Itoa(o.Jobs), "-f", makefileName)
	c.Dir = sources
	c.Env = makeEnviron()
	var stderr FirstBytes
	c.Stderr = &stderr
	began := time.Now()
	err = c.Run() // the exit status is 2, because some sources do not compile
	wall := time.Since(began)
	if c.ProcessState == nil {
		return s, err
	}
	made, e := filesBelow(sources, ".o")
	if e != nil {
		return s, e
	}
	if len(made) <= len(cases)/2 { // the disk is full, or this is not GNU make
		return s, errors.Join(fmt.Errorf("make compiled %d of %d sources: %s", len(made), len(cases), stderr.firstLine()), err)
	}
	return commandSample(len(cases), wall, cpuTimes{c.ProcessState.UserTime(), c.ProcessState.SystemTime()}), nil
}

// sources returns the words of Corpus and Make.
func (in Input) sources() (path string, compiler []string, err error) {
	if len(in.words) < 2 {
		return "", nil, errors.New("sources and a compiler are required")
	}
	return in.words[0], in.words[1:], nil
}

// commandSample returns the cost of a case, with user and system time.
func commandSample(cases int, wall time.Duration, used cpuTimes) results.Sample {
	each := func(d time.Duration) float64 { return float64(d) / float64(cases) }
	return cost{cases, wall, used.sum()}.sample(value(results.UserPerOp, each(used.user)), value(results.SystemPerOp, each(used.system)))
}

// makefileName is a file beside the sources. If make read its rules from a pipe, it would copy
// them to the system's folder for temporary files, which may be full.
const makefileName = "Makefile"

// prepareMake lists the sources and writes the makefile. It first removes earlier outputs,
// which would leave make without work.
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

// filesBelow lists the files with a suffix below a folder, relative to that folder.
func filesBelow(dir, end string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, end) {
			names = append(names, strings.TrimPrefix(path, dir+string(filepath.Separator)))
		}
		return err
	})
	return names, err
}

// makefile returns rules that compile each source.
func makefile(cases, compiler []string) string {
	var b strings.Builder
	b.WriteString("all:")
	for _, name := range cases {
		b.WriteString(" \\\n " + name + ".o")
	}
	// Without this rule make searches for sources of these two targets, and prints messages.
	b.WriteString("\n.PHONY: all\n" + makefileName + ": ;\n")
	b.WriteString("%.o: %\n\t@")
	for _, word := range compiler {
		b.WriteString(recipeWord(word) + " ")
	}
	b.WriteString("$< -o $@\n")
	return b.String()
}

// recipeWord quotes a word of a makefile's recipe for make and the shell.
func recipeWord(word string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(word, "'", `'\''`), "$", "$$") + "'"
}

// makeEnviron returns the environment without variables that configure make. Under a parent
// make, they would change the number of jobs or disable the work.
func makeEnviron() (environ []string) {
	for _, pair := range os.Environ() {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES", "MAKELEVEL":
		default:
			environ = append(environ, pair)
		}
	}
	return environ
}

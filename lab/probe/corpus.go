package probe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"al.essio.dev/pkg/shellescape"

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

// makefile compiles each source into a folder of its own, and so compiles all of them again in each
// run. Without the second rule make would search for sources of the makefile, and print messages.
const makefile = `SOURCES := $(wildcard src/*/*.c)
all: $(SOURCES:%.c=%.o)
makefile: ;
%.o: %.c
	@$(COMPILER) $< -o $(OUTPUTS)/$(@F)
`

func (o Make) measure(in Input) (s results.Sample, err error) {
	sources, compiler, err := in.sources()
	if err != nil {
		return s, err
	}
	// A file beside the sources: make copies rules from a pipe to the system's folder for temporary
	// files, which may be full.
	if err := os.WriteFile(filepath.Join(sources, "makefile"), []byte(makefile), 0o644); err != nil {
		return s, err
	}
	cases, _ := filepath.Glob(filepath.Join(sources, "src/*/*.c"))
	c := exec.CommandContext(in.ctx, "make", "-k", "-s", "-j"+strconv.Itoa(o.Jobs), "OUTPUTS="+in.dir,
		"COMPILER="+strings.ReplaceAll(shellescape.QuoteCommand(compiler), "$", "$$"))
	c.Dir = sources
	// Under a parent make, its variables would change the number of jobs or disable the work.
	c.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.Contains(name, "MAKE") || name == "MFLAGS"
	})
	var stderr FirstBytes
	c.Stderr = &stderr
	began := time.Now()
	err = c.Run() // the exit status is 2, because some sources do not compile
	wall := time.Since(began)
	if c.ProcessState == nil {
		return s, err
	}
	made, e := os.ReadDir(in.dir)
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

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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/lab/corpora"
	"muster/lab/probe"
	"muster/regress"
)

// compilers are what the corpus is compiled with: the first that is here. The faster it
// is, the more is seen of what runs it.
func compilers() [][]string {
	return [][]string{{"tcc", "-c"}, {"gcc", "-S", "-O0"}, {"cc", "-S", "-O0"}}
}

// findCompiler returns the command before the source and the output; nil if there is none.
func findCompiler() []string {
	for _, words := range compilers() {
		if path, err := exec.LookPath(words[0]); err == nil {
			return append([]string{path}, words[1:]...)
		}
	}
	return nil
}

// The files of a corpus that is measured, in its folder.
const (
	archiveName = "corpus.tar"
	sourcesName = "sources"
)

// corpusMissing is what there is not where nothing can compile it.
const corpusMissing = "a corpus of C sources"

// addCorpus writes a corpus and adds what compiles all of it: the runner with several
// numbers of workers, and make.
func (p *plan) addCorpus(ctx context.Context, dir string, sizes ClaimSizes) error {
	compiler := findCompiler()
	if compiler == nil {
		p.results.Missing = append(p.results.Missing, Missing{corpusMissing, "no C compiler in PATH (tcc, gcc or cc)", "apt-get install tcc"})
		return nil
	}
	spec := corpora.Spec{Name: "claims", Cases: sizes.Cases, Bytes: int64(sizes.Cases) * int64(sizes.CaseBytes), Sigma: 0.85, Seed: 4}
	if err := p.addCondition(Pair{"corpus", fmt.Sprintf("%d sources of %d bytes in the mean, compiled with %s",
		sizes.Cases, sizes.CaseBytes, strings.Join(append([]string{filepath.Base(compiler[0])}, compiler[1:]...), " "))}); err != nil {
		return err
	}
	if p.options.Progress != nil {
		p.options.Progress(Progress{Next: "writing a corpus", Left: -1})
	}
	archive := filepath.Join(dir, archiveName)
	if err := corpora.Write(archive, spec); err != nil {
		return err
	}
	estimate := time.Duration(sizes.Cases) * 4 * time.Millisecond
	for _, jobs := range corpusJobs() {
		args := []string{"corpus", "-archive", archive, "-jobs", strconv.Itoa(jobs)}
		for _, word := range compiler {
			args = append(args, "-word", word)
		}
		p.add(filesTrial(&IOOptions{Options: *p.options, Dir: dir}, corpusName(muster, jobs), estimate, args...))
	}
	if _, err := exec.LookPath("make"); err != nil {
		p.results.Missing = append(p.results.Missing, Missing{"make", "no make in PATH", "apt-get install make"})
		return nil
	}
	sources := filepath.Join(dir, sourcesName)
	if err := corpora.Unpack(sources, spec); err != nil {
		return err
	}
	if err := writeMakefile(sources, corpora.Cases(spec), compiler); err != nil {
		return err
	}
	p.add(trial{
		name: corpusName("make", runtime.NumCPU()), estimate: estimate,
		do: func(ctx context.Context) (Sample, absence, error) { return runMake(ctx, sources, sizes.Cases) },
	})
	return ctx.Err()
}

// corpusJobs are the numbers of workers: none at all, one, as many as processors, twice as
// many, and the article's.
func corpusJobs() []int {
	jobs := []int{0, 1, runtime.NumCPU(), 2 * runtime.NumCPU(), claimWorkers}
	slices.Sort(jobs)
	return slices.Compact(jobs)
}

func corpusName(impl string, jobs int) string {
	return fmt.Sprintf("Corpus/impl=%s/jobs=%d", impl, jobs)
}

// probeCorpus runs a command over a corpus, as muster record does, and keeps nothing.
func probeCorpus(ctx context.Context, f *flag.FlagSet) func() (Sample, error) {
	archive := f.String("archive", "", "")
	dir := f.String("dir", "", "")
	jobs := f.Int("jobs", 0, "")
	var words []string
	f.Func("word", "", func(word string) error {
		words = append(words, word)
		return nil
	})
	return func() (Sample, error) {
		self, err := os.Executable()
		if err != nil {
			return Sample{}, err
		}
		sum, err := regress.Record(ctx, regress.Options{
			Corpus:  regress.Corpus{Path: *archive},
			Command: regress.Command{Words: append(words, "{in}", "-o", "{out}")},
			Limits:  regress.Limits{Jobs: *jobs},
			Judge:   regress.Judgement{Repeat: 1},
			Store:   regress.Store{Golden: filepath.Join(*dir, "golden"), State: filepath.Join(*dir, "state")},
			Report:  regress.Report{Format: regress.Text, Quiet: true, Stdout: io.Discard, Stderr: io.Discard},
			Helper:  []string{self},
		})
		if err != nil {
			return Sample{}, err
		}
		return sampleOf(probe.Cost{N: sum.Cases, Wall: sum.Wall, CPU: sum.CPU + sum.OwnCPU}), nil
	}
}

// writeMakefile has make compile every source, and go on after one that fails.
func writeMakefile(dir string, cases, compiler []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "all:")
	for _, name := range cases {
		fmt.Fprintf(&b, " \\\n %s.o", name)
	}
	fmt.Fprintf(&b, "\n%%.o: %%\n\t@%s $< -o $@\n", strings.Join(compiler, " "))
	return os.WriteFile(filepath.Join(dir, "Makefile"), []byte(b.String()), 0o644)
}

// runMake compiles all sources with as many jobs as processors.
func runMake(ctx context.Context, dir string, cases int) (Sample, absence, error) {
	if err := removeOutputs(dir); err != nil {
		return Sample{}, "", err
	}
	c := exec.CommandContext(ctx, "make", "-k", "-j"+strconv.Itoa(runtime.NumCPU()))
	c.Dir = dir
	// Under a make of the caller's, or with its flags, this one would take its jobs from
	// there, or none.
	c.Env = environWithout("MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "MAKEFILES", "MAKELEVEL")
	ownGroup(c) // its compilers are to end with it, before their folder goes
	var said firstBytes
	c.Stderr = &said
	began := time.Now()
	err := c.Run() // with status 2, for some sources do not compile
	wall := time.Since(began)
	if ctx.Err() != nil || c.ProcessState == nil {
		return Sample{}, "", err
	}
	switch made, e := countOutputs(dir); {
	case e != nil:
		return Sample{}, "", e
	case made <= cases/2: // a full disk, or a make that is not GNU's
		return Sample{}, "", said.explain(errors.Join(fmt.Errorf("make compiled %d of %d sources", made, cases), err))
	}
	s := sampleOf(probe.Cost{N: cases, Wall: wall, CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime()})
	s.Name = corpusName("make", runtime.NumCPU())
	return s, "", nil
}

// removeOutputs takes away what make made, or it would have nothing to do.
func removeOutputs(dir string) error { return eachOutput(dir, os.Remove) }

func countOutputs(dir string) (n int, err error) {
	err = eachOutput(dir, func(string) error {
		n++
		return nil
	})
	return n, err
}

func eachOutput(dir string, do func(path string) error) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".o") {
			err = do(path)
		}
		return err
	})
}

package lab

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/lab/corpora"
	"muster/lab/internal/run"
	"muster/lab/results"
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

// addCorpus writes a corpus below dir and adds what compiles all of it: the runner with
// several numbers of workers, and make.
func (p planner) addCorpus(ctx context.Context, dir string, o ClaimsOptions) error {
	compiler := findCompiler()
	if compiler == nil {
		p.lacks(corpusMissing, "no C compiler in PATH (tcc, gcc or cc)", "apt-get install tcc")
		return nil
	}
	cases := o.Sizes.Cases
	spec := corpora.Spec{Name: "claims", Cases: cases, Bytes: int64(cases) * int64(o.Sizes.CaseBytes), Sigma: 0.85, Seed: 4}
	if err := p.AddCondition(results.Pair{Key: "corpus", Value: fmt.Sprintf("%d sources of %d bytes in the mean, compiled with %s",
		cases, o.Sizes.CaseBytes, strings.Join(append([]string{filepath.Base(compiler[0])}, compiler[1:]...), " "))}); err != nil {
		return err
	}
	if o.Progress != nil {
		o.Progress(Progress{Next: "writing a corpus", Left: -1})
	}
	archive := filepath.Join(dir, archiveName)
	if err := corpora.Write(archive, spec); err != nil {
		return err
	}
	estimate := time.Duration(cases) * 4 * time.Millisecond
	words := commandFlags(compiler)
	for _, jobs := range corpusJobs() {
		p.Add(p.files(dir, corpusName(run.Muster, jobs), estimate,
			append([]string{"corpus", "-archive", archive, "-jobs", strconv.Itoa(jobs)}, words...)...))
	}
	if _, err := exec.LookPath("make"); err != nil {
		p.lacks("make", "no make in PATH", "apt-get install make")
		return nil
	}
	sources := filepath.Join(dir, sourcesName)
	if err := corpora.Unpack(sources, spec); err != nil {
		return err
	}
	p.Add(p.Probe(corpusName(makeImpl, processors()), estimate,
		append([]string{"make", "-sources", sources, "-jobs", strconv.Itoa(processors())}, words...)...).AsPeer())
	return ctx.Err()
}

func (p planner) lacks(peer, reason, install string) {
	p.Results.Missing = append(p.Results.Missing, results.Missing{Peer: peer, Reason: reason, Install: install})
}

// makeImpl is GNU make.
const makeImpl = "make"

// commandFlags hands a command to a probe.
func commandFlags(words []string) (flags []string) {
	for _, word := range words {
		flags = append(flags, "-word", word)
	}
	return flags
}

// corpusJobs are the numbers of workers: none at all, one, as many as processors, twice as
// many, and the article's.
func corpusJobs() []int {
	jobs := []int{0, 1, processors(), 2 * processors(), claimWorkers}
	slices.Sort(jobs)
	return slices.Compact(jobs)
}

func corpusName(impl string, jobs int) string {
	return fmt.Sprintf("Corpus/impl=%s/jobs=%d", impl, jobs)
}

package lab

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/internal/page"
	"muster/internal/readable"
	"muster/lab/corpora"
	"muster/lab/probe"
	"muster/lab/results"
)

// findCompiler returns the command of the first available compiler, without the source and the
// output, nil if none is. A faster compiler makes the runner's own cost more visible.
func findCompiler() []string {
	for _, words := range [][]string{{"tcc", "-c"}, {"gcc", "-S", "-O0"}, {"cc", "-S", "-O0"}} {
		if path, err := exec.LookPath(words[0]); err == nil {
			return append([]string{path}, words[1:]...)
		}
	}
	return nil
}

// Names of the corpus files in their folder.
const (
	archiveName = "corpus.tar"
	sourcesName = "sources"
)

// corpusMissing is the name of the corpus in the results' Missing, when no compiler is
// available.
const corpusMissing = "a corpus of C sources"

// addCorpus writes a corpus below dir, and adds trials that compile it: the runner with
// several numbers of workers, and make.
func (p *planner) addCorpus(ctx context.Context, dir string, o ClaimsOptions) error {
	compiler := findCompiler()
	if compiler == nil {
		p.addMissing(corpusMissing, "no C compiler in PATH (tcc, gcc or cc)", "apt-get install tcc")
		return nil
	}
	cases := o.Sizes.Cases
	spec := corpora.Spec{Name: "claims", Cases: cases, Bytes: int64(cases) * int64(o.Sizes.CaseBytes), Sigma: 0.85, Seed: 4}
	if err := p.addCondition(results.Pair{Key: "corpus", Value: fmt.Sprintf("%s sources of %s in the mean, compiled with %s",
		readable.Number(cases), readable.Count(o.Sizes.CaseBytes, "byte"), strings.Join(append([]string{filepath.Base(compiler[0])}, compiler[1:]...), " "))}); err != nil {
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
	add := func(impl string, jobs int, q probe.Question, path string) {
		p.add(trial{Name: corpusName(impl, jobs), Estimate: estimate, Question: q, Words: append([]string{path}, compiler...),
			Foreign: impl == makeImpl, Folder: true, FolderIn: dir})
	}
	for _, jobs := range corpusJobs() {
		add(muster, jobs, probe.Corpus{Jobs: jobs}, archive)
	}
	if _, err := exec.LookPath("make"); err != nil {
		p.addMissing("make", "no make in PATH", "apt-get install make")
		return nil
	}
	sources := filepath.Join(dir, sourcesName)
	if err := corpora.Unpack(sources, spec); err != nil {
		return err
	}
	add(makeImpl, processors(), probe.Make{Jobs: processors()}, sources)
	return ctx.Err()
}

func (p *planner) addMissing(peer, reason, install string) {
	p.Results.Missing = append(p.Results.Missing, results.Missing{Peer: peer, Reason: reason, Install: install})
}

// makeImpl is the name of GNU make.
const makeImpl = "make"

// corpusJobs returns the numbers of workers: no pool, one, as many as processors, twice as
// many, and the article's number.
func corpusJobs() []int {
	jobs := []int{0, 1, processors(), 2 * processors(), claimWorkers}
	slices.Sort(jobs)
	return slices.Compact(jobs)
}

func corpusName(impl string, jobs int) string {
	return fmt.Sprintf("Corpus/impl=%s/jobs=%d", impl, jobs)
}

// corpus adds the runs over the corpus as the article reports them: elapsed, user and system time in
// seconds, and how idle the processors were. The chart has the elapsed time.
func (j *judge) corpus(s *sheet) {
	var titles, names []string
	for _, jobs := range corpusJobs() {
		title := "muster, " + readable.Count(jobs, "worker")
		if jobs == 0 {
			title = "muster, one after another"
		}
		titles, names = append(titles, title), append(names, corpusName(muster, jobs))
	}
	titles, names = append(titles, fmt.Sprintf("make -j%d", j.cpus)), append(names, corpusName(makeImpl, j.cpus))
	name := func(row int) string { return names[row] }
	each := 1e9 / float64(j.Cases)
	s.grid(fmt.Sprintf("runs over %s: seconds, and how idle %s were", readable.Count(j.Cases, "source"), readable.Count(j.cpus, "processor")), "", titles,
		column{title: "elapsed", unit: results.NsPerOp, divisor: each, name: name}, column{title: "user", unit: results.UserPerOp, divisor: each, name: name},
		column{title: "system", unit: results.SystemPerOp, divisor: each, name: name},
		column{title: "idle", cell: func(row int) page.Cell {
			s := j.summary(figure{kind: busy, a: names[row]})
			if s.N == 0 || j.cpus == 0 {
				return page.Cell{Text: "–"}
			}
			return page.Cell{Text: fmt.Sprintf("%.0f %%", 100*max(0, 1-s.Median/float64(j.cpus)))}
		}})
	s.Pictures = j.bars("The corpus by workers", "seconds", titles, results.NsPerOp, each, func(title string) string { return names[slices.Index(titles, title)] })
}

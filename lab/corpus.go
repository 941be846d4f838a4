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
	"muster/internal/plot"
	"muster/internal/readable"
	"muster/lab/corpora"
	"muster/lab/internal/run"
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
func (p planner) addCorpus(ctx context.Context, dir string, o ClaimsOptions) error {
	compiler := findCompiler()
	if compiler == nil {
		p.addMissing(corpusMissing, "no C compiler in PATH (tcc, gcc or cc)", "apt-get install tcc")
		return nil
	}
	cases := o.Sizes.Cases
	spec := corpora.Spec{Name: "claims", Cases: cases, Bytes: int64(cases) * int64(o.Sizes.CaseBytes), Sigma: 0.85, Seed: 4}
	if err := p.AddCondition(results.Pair{Key: "corpus", Value: fmt.Sprintf("%s sources of %s in the mean, compiled with %s",
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
	for _, jobs := range corpusJobs() {
		p.Add(p.folderTrial(dir, corpusName(run.Muster, jobs), estimate, "corpus", compileQuestion{jobs}, append([]string{archive}, compiler...)...))
	}
	if _, err := exec.LookPath("make"); err != nil {
		p.addMissing("make", "no make in PATH", "apt-get install make")
		return nil
	}
	sources := filepath.Join(dir, sourcesName)
	if err := corpora.Unpack(sources, spec); err != nil {
		return err
	}
	p.Add(p.Probe(corpusName(makeImpl, run.Processors()), estimate, question("make", compileQuestion{run.Processors()}, append([]string{sources}, compiler...)...)...).AsPeer())
	return ctx.Err()
}

func (p planner) addMissing(peer, reason, install string) {
	p.Results.Missing = append(p.Results.Missing, results.Missing{Peer: peer, Reason: reason, Install: install})
}

// makeImpl is the name of GNU make.
const makeImpl = "make"

// corpusJobs returns the numbers of workers: no pool, one, as many as processors, twice as
// many, and the article's number.
func corpusJobs() []int {
	jobs := []int{0, 1, run.Processors(), 2 * run.Processors(), claimWorkers}
	slices.Sort(jobs)
	return slices.Compact(jobs)
}

func corpusName(impl string, jobs int) string {
	return fmt.Sprintf("Corpus/impl=%s/jobs=%d", impl, jobs)
}

// corpus returns the runs over the corpus as the article reports them: elapsed, user and system time in
// seconds, and how idle the processors were. The chart has the elapsed time.
func (j *judge) corpus() (page.Table, []plot.Chart) {
	t := page.Table{Caption: fmt.Sprintf("runs over %s: seconds, and how idle %s were", readable.Count(j.Cases, "source"), readable.Count(j.cpus, "processor")),
		Columns: newColumns("", "elapsed", "user", "system", "idle")}
	var titles []string
	nameOf := map[string]string{}
	add := func(title, name string) {
		titles, nameOf[title] = append(titles, title), name
		row := page.Row(title)
		for _, unit := range []string{results.NsPerOp, userUnit, systemUnit} {
			row = append(row, j.medianCell(name, unit, 1e9/float64(j.Cases)))
		}
		idle := "–"
		if s := j.summary(figure{kind: busy, a: name}); s.N > 0 && j.cpus > 0 {
			idle = fmt.Sprintf("%.0f %%", 100*max(0, 1-s.Median/float64(j.cpus)))
		}
		t.Rows = append(t.Rows, append(row, page.Cell{Text: idle}))
	}
	for _, jobs := range corpusJobs() {
		title := "muster, " + readable.Count(jobs, "worker")
		if jobs == 0 {
			title = "muster, one after another"
		}
		add(title, corpusName(run.Muster, jobs))
	}
	add(fmt.Sprintf("make -j%d", j.cpus), corpusName(makeImpl, j.cpus))
	return t, j.bars("The corpus by workers", "seconds", titles, results.NsPerOp, 1e9/float64(j.Cases), func(title string) string { return nameOf[title] })
}

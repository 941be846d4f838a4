package lab

import (
	"fmt"
	"math"
	"time"

	"muster/lab/internal/run"
	"muster/lab/results"
	"muster/lab/stat"
)

func (j *judge) sequentialIdles() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	name := corpusName(run.Muster, 0)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	cpu, wall := j.Figures(name, results.CPUPerOp), j.Figures(name, results.NsPerOp)
	s, err := stat.Ratio(cpu, wall)
	if err != nil {
		return cannotTell("%v", err)
	}
	idle := 100 * (1 - s.Median/float64(j.cpus))
	return found(within(s, 0.5, 1.3), fmt.Sprintf("%s processors busy, %.0f %% of %d idle", digits(s.Median), math.Max(0, idle), j.cpus),
		reasons{held: "what waits for one compiler after another uses one processor", gone: "the compiler itself runs on several, or waits for its disk"})
}

// corpusLeast is how long a run over the corpus must take for the start of the workers,
// some milliseconds each, to be little beside it.
const corpusLeast = 2 * time.Second

// ofCorpus is what was found with the corpus, if that is large enough to tell anything.
func (j *judge) ofCorpus(f finding) finding {
	wall := time.Duration(j.Summary(corpusName(run.Muster, 0), results.NsPerOp).Median * float64(j.sizes.Cases))
	if f.here == "" || wall >= corpusLeast {
		return f
	}
	return finding{cannotBeTold, f.here, fmt.Sprintf("the corpus takes %v, in which the start of the workers is not little: measure with the article's sizes", wall.Round(10*time.Millisecond))}
}

func (j *judge) oneWorker() finding {
	return j.ofCorpus(j.compare(corpusName(run.Muster, 1), corpusName(run.Muster, 0), results.NsPerOp, 0, 1.05,
		reasons{held: "handing a case to a worker is little beside a compiler", gone: "with compilers as fast as this one what hands out is no longer little"}))
}

func (j *judge) manyWorkers() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	many, none := corpusName(run.Muster, claimWorkers), corpusName(run.Muster, 0)
	if f, lacks := j.lacking(many, none); lacks {
		return f
	}
	s := j.Ratio(none, many, results.NsPerOp)
	return j.ofCorpus(found(within(s, 0.7*float64(j.cpus), math.Inf(1)), fmt.Sprintf("%s as fast on %d processors", times(s), j.cpus),
		reasons{held: "32 compilers keep every processor busy", gone: "more compilers than processors only take turns: see those with as many"}))
}

func (j *judge) better() finding {
	f := j.compare(corpusName(makeImpl, j.cpus), corpusName(run.Muster, j.cpus), results.NsPerOp, 1, math.Inf(1),
		reasons{held: "though it digests and keeps all that a case leaves, and make nothing but the output",
			gone: "make keeps nothing but the output; the runner digests and keeps all that a case leaves, and starts its workers first"})
	if f.here != "" {
		f.here = "make takes " + f.here
	}
	return j.ofCorpus(f)
}

func (j *judge) twice() finding {
	f := j.compare(corpusName(run.Muster, j.cpus), corpusName(run.Muster, 2*j.cpus), results.NsPerOp, 1.01, math.Inf(1),
		reasons{held: "what waits between two compilers is filled by another worker", gone: "where a compiler waits for no disk, as many workers as processors keep them busy, and more only switch"})
	if f.here != "" {
		f.here = "one for each takes " + f.here + " the time of two"
	}
	return j.ofCorpus(f)
}

func (j *judge) dispatchOne() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, 1)
	return j.compare(boost, article, results.NsPerOp, 6, math.Inf(1), reasons{held: "a channel hands over on one thread, where C++ wakes one of the system's",
		gone: "mutexes and wake-ups of threads have become cheaper, and C++ moves what it calls instead of copying it"})
}

func (j *judge) dispatchMany() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, claimJobs)
	return j.compare(article, boost, results.NsPerOp, 0.7, math.Inf(1), reasons{held: "threads are woken for every task", gone: "Go's scheduler no longer wakes a thread for each goroutine that could run"})
}

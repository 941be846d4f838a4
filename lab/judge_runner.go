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
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	name := corpusName(run.Muster, 0)
	if f, missing := j.findMissing(name); missing {
		return f
	}
	cpu, wall := j.Figures(name, results.CPUPerOp), j.Figures(name, results.NsPerOp)
	s, err := stat.Ratio(cpu, wall)
	if err != nil {
		return newUndecided("%v", err)
	}
	idle := 100 * (1 - s.Median/float64(j.cpus))
	return newFinding(judgeTimes(s, 0.5, 1.3), fmt.Sprintf("%s processors busy, %.0f %% of %d idle", digits(s.Median), math.Max(0, idle), j.cpus),
		reasons{held: "one compiler at a time uses one processor", gone: "the compiler itself uses several processors, or waits for its disk"})
}

// corpusTimeMin is the least time of a run over the corpus for a verdict. The start of the
// workers, some milliseconds each, is then negligible.
const corpusTimeMin = 2 * time.Second

// requireLongRun replaces the verdict by undecided if a run over the corpus was too short.
func (j *judge) requireLongRun(f finding) finding {
	wall := time.Duration(j.Summary(corpusName(run.Muster, 0), results.NsPerOp).Median * float64(j.sizes.Cases))
	if f.here == "" || wall >= corpusTimeMin {
		return f
	}
	return finding{undecided, f.here, fmt.Sprintf("a run over the corpus takes %v, so the start of the workers distorts it: measure the article's size with --full", wall.Round(10*time.Millisecond))}
}

func (j *judge) oneWorker() finding {
	return j.requireLongRun(j.compare(corpusName(run.Muster, 1), corpusName(run.Muster, 0), results.NsPerOp, 0, 1.05,
		reasons{held: "compared with a compiler, the dispatch of a case costs little", gone: "compared with a compiler as fast as this one, the dispatch of a case no longer costs little"}))
}

func (j *judge) manyWorkers() finding {
	if f, one := j.needTwoProcessors(); one {
		return f
	}
	many, none := corpusName(run.Muster, claimWorkers), corpusName(run.Muster, 0)
	if f, missing := j.findMissing(many, none); missing {
		return f
	}
	s := j.Ratio(none, many, results.NsPerOp)
	return j.requireLongRun(newFinding(judgeTimes(s, 0.7*float64(j.cpus), math.Inf(1)), fmt.Sprintf("%s as fast on %d processors", timesText(s), j.cpus),
		reasons{held: "32 compilers keep every processor busy", gone: "more compilers than processors only take turns: see the figure for one worker per processor"}))
}

func (j *judge) fasterThanMake() finding {
	f := j.compare(corpusName(makeImpl, j.cpus), corpusName(run.Muster, j.cpus), results.NsPerOp, 1, math.Inf(1),
		reasons{held: "muster is faster although it digests and keeps everything that a case produces; make keeps only the output",
			gone: "make keeps only the output; muster also starts workers, and digests and keeps everything that a case produces"})
	if f.here != "" {
		f.here = "make takes " + f.here
	}
	return j.requireLongRun(f)
}

func (j *judge) twoWorkersEach() finding {
	f := j.compare(corpusName(run.Muster, j.cpus), corpusName(run.Muster, 2*j.cpus), results.NsPerOp, 1.01, math.Inf(1),
		reasons{held: "a second worker uses the processor between two compilers of the first", gone: "a compiler that does not wait for a disk keeps its processor busy, so further workers only add switches"})
	if f.here != "" {
		f.here = "one worker per processor takes " + f.here + " the time of two"
	}
	return j.requireLongRun(f)
}

func (j *judge) dispatchOne() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, 1)
	return j.compare(boost, article, results.NsPerOp, 6, math.Inf(1), reasons{held: "a channel passes a task on within one thread, and C++ wakes a system thread",
		gone: "mutexes and wake-ups of threads have become cheaper, and C++ moves a task instead of copying it"})
}

func (j *judge) dispatchMany() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, claimJobs)
	return j.compare(article, boost, results.NsPerOp, 0.7, math.Inf(1), reasons{held: "every task wakes a thread", gone: "Go's scheduler no longer wakes a thread for each runnable goroutine"})
}

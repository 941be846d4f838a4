package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"muster/internal/readable"
	"muster/lab/internal/run"
	"muster/lab/probe"
	"muster/lab/results"
	"muster/lab/stat"
)

// Bounds on the server's threads. At half as many threads as connections, about each
// connection has one. A pool may have its own threads, and as many again for everything else.
const (
	threadsUnbounded = uploadConnections / 2
	threadsBounded   = 2 * engineThreads
)

// largeUpload returns the name of an upload of the article's size.
func largeUpload(engine string, bound bool) string { return upload{engine, bound, uploadLarge}.name() }

// uploadsText formats the uploads per second and the server's threads.
func (j *judge) uploadsText(name string) string {
	return fmt.Sprintf("%s a second, %s threads", readable.Number(int64(1e9/j.Summary(name, results.NsPerOp).Median)), digits(j.Summary(name, threadsUnit).Median))
}

// needThreads is need, and also requires that the system reports threads.
func (j *judge) needThreads(names ...string) {
	j.need(names...)
	for _, name := range names {
		if n := j.Summary(name, threadsUnit); n.N == 0 || n.Median == 0 {
			j.obstruct(threadsUnknown)
		}
	}
}

const (
	diskTakesAll = "this disk takes writes into memory at once; with --dir, name a folder on a slow disk"
	diskTakesToo = "; this disk takes writes into memory at once, and a pool shows its benefit only on a disk that blocks (--dir)"
)

// diskBlocks reports whether uploads without a pool waited for the disk, each in a thread.
func (j *judge) diskBlocks() bool {
	return judgeCounts(j.Summary(largeUpload(probe.Direct, false), threadsUnit), threadsUnbounded, math.Inf(1)) == holds
}

// uploadsDirect never returns noLongerHolds. Few threads only mean that the disk lets no
// upload wait.
func (j *judge) uploadsDirect() finding {
	name := largeUpload(probe.Direct, false)
	j.needThreads(name)
	if !j.diskBlocks() {
		return finding{undecided, j.uploadsText(name), diskTakesAll}
	}
	return finding{holds, j.uploadsText(name), "each upload that waits for the disk keeps a thread"}
}

func (j *judge) uploadsPool() finding {
	return j.uploadsBounded(largeUpload(probe.Pool, false), 0.91, 1.05)
}
func (j *judge) uploadsBound() finding {
	return j.uploadsBounded(largeUpload(probe.CThreads, true), 0.82, 0.96)
}
func (j *judge) uploadsUnbound() finding {
	return j.uploadsBounded(largeUpload(probe.CThreads, false), 0.87, 1.01)
}

// uploadsBounded compares uploads through an engine with a bounded number of threads to direct
// uploads, and checks the server's threads.
func (j *judge) uploadsBounded(name string, low, high float64) finding {
	without := largeUpload(probe.Direct, false)
	j.needThreads(without, name)
	bounded := judgeCounts(j.Summary(name, threadsUnit), 1, threadsBounded)
	s := j.ratio(without, name)
	why := reasons{
		held:  "few threads keep the disk as busy as many, at about the cost of the handover",
		gone:  "compared with a file operation, the handover to another thread costs more than it did",
		above: "a whole file is one job here, not one job per page of 4 KB, so the handover costs little; fewer files at a time wait less for one another",
	}.forSide(s, high)
	if bounded == noLongerHolds {
		why.gone = "sockets also keep threads for moments, and more of them when the processors are overloaded"
	}
	f := newFinding(combine(bounded, judgeTimes(s, low, high)), fmt.Sprintf("%s as many: %s", timesText(s), j.uploadsText(name)), why)
	if !j.diskBlocks() {
		f.why += diskTakesToo
	}
	return f
}

func (j *judge) uploadsSmall() finding {
	few, many := largeUpload(probe.Direct, false), upload{probe.Direct, false, uploadSmall}.name()
	f := j.compare(few, many, 4, math.Inf(1), reasons{held: "the disk is so slow that its time per byte dominates an upload",
		gone: "the disk is fast, so the fixed cost of a request dominates"})
	f.here += " as many: " + j.uploadsText(many)
	return f
}

func (j *judge) sequentialIdles() finding {
	j.needTwoProcessors()
	name := corpusName(run.Muster, 0)
	j.need(name)
	cpu, wall := j.Figures(name, results.CPUPerOp), j.Figures(name, results.NsPerOp)
	s, err := stat.Ratio(cpu, wall)
	if err != nil {
		j.obstruct(err.Error())
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
	if wall >= corpusTimeMin {
		return f
	}
	return finding{undecided, f.here, fmt.Sprintf("a run over the corpus takes %v, so the start of the workers distorts it: measure the article's size with --full", wall.Round(10*time.Millisecond))}
}

func (j *judge) oneWorker() finding {
	return j.requireLongRun(j.compare(corpusName(run.Muster, 1), corpusName(run.Muster, 0), 0, 1.05,
		reasons{held: "compared with a compiler, the dispatch of a case costs little", gone: "compared with a compiler as fast as this one, the dispatch of a case no longer costs little"}))
}

func (j *judge) manyWorkers() finding {
	j.needTwoProcessors()
	many, none := corpusName(run.Muster, claimWorkers), corpusName(run.Muster, 0)
	j.need(many)
	s := j.ratio(none, many)
	return j.requireLongRun(newFinding(judgeTimes(s, 0.7*float64(j.cpus), math.Inf(1)), fmt.Sprintf("%s as fast on %d processors", timesText(s), j.cpus),
		reasons{held: "32 compilers keep every processor busy", gone: "more compilers than processors only take turns: see the figure for one worker per processor"}))
}

func (j *judge) fasterThanMake() finding {
	f := j.compare(corpusName(makeImpl, j.cpus), corpusName(run.Muster, j.cpus), 1, math.Inf(1),
		reasons{held: "muster is faster although it digests and keeps everything that a case produces; make keeps only the output",
			gone: "make keeps only the output; muster also starts workers, and digests and keeps everything that a case produces"})
	f.here = "make takes " + f.here
	return j.requireLongRun(f)
}

func (j *judge) twoWorkersEach() finding {
	f := j.compare(corpusName(run.Muster, j.cpus), corpusName(run.Muster, 2*j.cpus), 1.01, math.Inf(1),
		reasons{held: "a second worker uses the processor between two compilers of the first", gone: "a compiler that does not wait for a disk keeps its processor busy, so further workers only add switches"})
	f.here = "one worker per processor takes " + f.here + " the time of two"
	return j.requireLongRun(f)
}

func (j *judge) dispatchOne() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, 1)
	return j.compare(boost, article, 6, math.Inf(1), reasons{held: "a channel passes a task on within one thread, and C++ wakes a system thread",
		gone: "mutexes and wake-ups of threads have become cheaper, and C++ moves a task instead of copying it"})
}

func (j *judge) dispatchMany() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, claimJobs)
	return j.compare(article, boost, 0.7, math.Inf(1), reasons{held: "every task wakes a thread", gone: "Go's scheduler no longer wakes a thread for each runnable goroutine"})
}

// callNames names the calls of a function in count goroutines, and in a loop.
func (j *judge) callNames(work, count, procs int) (each, direct string) {
	return SpawnName(run.Muster, "each", work, count, procs), SpawnName(run.Muster, "direct", work, claimCalls(j.sizes, work), procs)
}

// slowdownOf returns the time of goroutines ÷ the time of the loop, at GOMAXPROCS 1.
func (j *judge) slowdownOf(work int) stat.Summary {
	return j.ratio(j.callNames(work, claimGoroutines(j.sizes, work), 1))
}

func (j *judge) goroutineBytes() finding {
	name := SpawnName(run.Muster, "waiting", 0, j.sizes.Goroutines, 1)
	j.need(name)
	s, st := j.Summary(name, sysUnit), j.Summary(name, stackUnit)
	return newFinding(judgeCounts(s, 4_000, 4_700), fmt.Sprintf("%s bytes each, including %s of stack, with %s waiting goroutines", digits(s.Median), digits(st.Median), readable.Number(int64(j.sizes.Goroutines))),
		reasons{held: "a stack of 4 KB dominates", gone: "a stack starts with 2 KB since Go 1.4, instead of 4 KB", above: "they take more than a stack of the least size and its overhead"}.forSide(s, 4_700))
}

// overheadText reports what a goroutine adds to the smallest function.
func overheadText(j *judge) string {
	each, direct := j.callNames(1, claimGoroutines(j.sizes, 1), 1)
	if j.findMissing(each, direct) != "" {
		return fasterRoots
	}
	return "a goroutine with its result takes " + digits(j.Difference(each, direct, results.NsPerOp).Median) + " ns, and a root takes a few ns"
}

const fasterRoots = "in a loop, a root takes a few ns today, and took some hundred ns then; the start of a goroutine has become faster by less"

func (j *judge) oneRoot() finding {
	s := j.slowdownOf(1)
	return newFinding(judgeTimes(s, 3, 5), timesText(s), reasons{held: "both have become faster by the same factor", gone: "the start of a goroutine has become faster by more than a root", above: fasterRoots}.forSide(s, 5))
}

func (j *judge) tenRoots() finding {
	ten, hundred := j.slowdownOf(10), j.slowdownOf(100)
	text := fmt.Sprintf("ten: %s, a hundred: %s", timesText(ten), timesText(hundred))
	if j.sizes.Goroutines >= claimManyRoot {
		if each, direct := j.callNames(10, claimManyRoot, 1); j.findMissing(each, direct) == "" {
			text += fmt.Sprintf(", ten with %s alive: %s", readable.Number(claimManyRoot), timesText(j.ratio(each, direct)))
		}
	}
	return newFinding(combine(judgeTimes(ten, 0, 1.5), judgeTimes(hundred, 0, 1.05)), text, sameReason(fasterRoots))
}

func (j *judge) manyRoots() finding {
	thousand, most := j.slowdownOf(1000), j.slowdownOf(5000)
	return newFinding(combine(judgeTimes(thousand, 0, 1.04), judgeTimes(most, 0, 1.02)), fmt.Sprintf("1,000: %s, 5,000: %s", timesText(thousand), timesText(most)),
		sameReason(overheadText(j)))
}

// speedupAtTwo returns the time of goroutines at GOMAXPROCS 1 ÷ their time at 2.
func (j *judge) speedupAtTwo(work int) stat.Summary {
	j.needTwoProcessors()
	count := claimGoroutines(j.sizes, work)
	return j.ratio(SpawnName(run.Muster, "each", work, count, 1), SpawnName(run.Muster, "each", work, count, 2))
}

func (j *judge) compareSpeedups(works [2]int, low, high float64, why reasons) finding {
	a, b := j.speedupAtTwo(works[0]), j.speedupAtTwo(works[1])
	return newFinding(combine(judgeTimes(a, low, high), judgeTimes(b, low, high)),
		fmt.Sprintf("%s as fast with %s, %s with %s", timesText(a), rootsText(works[0]), timesText(b), rootsText(works[1])), why)
}

func (j *judge) smallWithTwo() finding {
	return j.compareSpeedups([2]int{1, 10}, 0, 0.99,
		reasons{held: "threads wake one another for too little work", gone: "the scheduler wakes a second thread, which takes over goroutines of the first"})
}

func (j *judge) largeWithTwo() finding {
	return j.compareSpeedups([2]int{1000, 5000}, 1.8, math.Inf(1),
		reasons{held: "the work dominates, and both processors share it", gone: "both processors share the work, but not equally the start of goroutines and the garbage collection"})
}

func (j *judge) goroutineOverhead() finding {
	each, direct := j.callNames(1, claimGoroutines(j.sizes, 1), 1)
	j.need(each, direct)
	s := j.Difference(each, direct, results.NsPerOp)
	return newFinding(judgeTimes(s, 100, 10_000), fmt.Sprintf("a goroutine adds %s ns: %s %% of 1 µs, %s %% of 1 ms", digits(s.Median), digits(s.Median/10), digits(s.Median/1e4)),
		sameReason("the loss is a tenth for work of "+digits(s.Median/100)+" µs"))
}

func (j *judge) erlangMemory() finding {
	name := SpawnName("erlang", "waiting", 1, j.sizes.Goroutines, 0)
	j.need(name)
	const wanted = 20e6
	each := j.Summary(name, rssUnit).Median
	number, _, _ := strings.Cut(j.Condition(run.MemoryKey), " ")
	have, _ := strconv.ParseFloat(number, 64)
	here := fmt.Sprintf("%s bytes each with %s: 20 million need %s GB", digits(each), readable.Number(int64(j.sizes.Goroutines)), digits(each*wanted/1e9))
	if have == 0 {
		return finding{undecided, here, "the system does not report its memory"}
	}
	v := holds
	if each*wanted > have*1e9 {
		v = undecided
	}
	return finding{v, here, fmt.Sprintf("this machine has %s GB", digits(have))}
}

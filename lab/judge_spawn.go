package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"muster/internal/readable"
	"muster/lab/internal/run"
	"muster/lab/results"
	"muster/lab/stat"
)

func (j *judge) slowdownOf(work, count, procs int) (stat.Summary, finding, bool) {
	each, direct := SpawnName(run.Muster, "each", work, count, procs), SpawnName(run.Muster, "direct", work, claimCalls(j.sizes, work), procs)
	if f, missing := j.findMissing(each, direct); missing {
		return stat.Summary{}, f, true
	}
	return j.Ratio(each, direct, results.NsPerOp), finding{}, false
}

func (j *judge) goroutineBytes() finding {
	name := SpawnName(run.Muster, "waiting", 0, j.sizes.Goroutines, 1)
	if f, missing := j.findMissing(name); missing {
		return f
	}
	s, st := j.Summary(name, sysUnit), j.Summary(name, stackUnit)
	return newFinding(judgeCounts(s, 4_000, 4_700), fmt.Sprintf("%s bytes each, including %s of stack, with %s waiting goroutines", digits(s.Median), digits(st.Median), readable.Number(int64(j.sizes.Goroutines))),
		reasons{held: "a stack of 4 KB dominates", gone: "a stack starts with 2 KB since Go 1.4, instead of 4 KB", above: "they take more than a stack of the least size and its overhead"}.forSide(s, 4_700))
}

// overheadText reports what a goroutine adds to the smallest function.
func (j *judge) overheadText() string {
	each, direct := SpawnName(run.Muster, "each", 1, claimGoroutines(j.sizes, 1), 1), SpawnName(run.Muster, "direct", 1, claimCalls(j.sizes, 1), 1)
	if _, missing := j.findMissing(each, direct); missing {
		return fasterRoots
	}
	return "a goroutine with its result takes " + digits(j.Difference(each, direct, results.NsPerOp).Median) + " ns, and a root takes a few ns"
}

const fasterRoots = "in a loop, a root takes a few ns today, and took some hundred ns then; the start of a goroutine has become faster by less"

func (j *judge) oneRoot() finding {
	s, f, missing := j.slowdownOf(1, claimGoroutines(j.sizes, 1), 1)
	if missing {
		return f
	}
	return newFinding(judgeTimes(s, 3, 5), timesText(s), reasons{held: "both have become faster by the same factor", gone: "the start of a goroutine has become faster by more than a root", above: fasterRoots}.forSide(s, 5))
}

func (j *judge) tenRoots() finding {
	ten, f, missing := j.slowdownOf(10, claimGoroutines(j.sizes, 10), 1)
	if missing {
		return f
	}
	hundred, f, missing := j.slowdownOf(100, claimGoroutines(j.sizes, 100), 1)
	if missing {
		return f
	}
	text := fmt.Sprintf("ten: %s, a hundred: %s", timesText(ten), timesText(hundred))
	if j.sizes.Goroutines >= claimManyRoot {
		if many, _, missing := j.slowdownOf(10, claimManyRoot, 1); !missing {
			text += fmt.Sprintf(", ten with %s alive: %s", readable.Number(claimManyRoot), timesText(many))
		}
	}
	return newFinding(combine(judgeTimes(ten, 0, 1.5), judgeTimes(hundred, 0, 1.05)), text, sameReason(fasterRoots))
}

func (j *judge) manyRoots() finding {
	thousand, f, missing := j.slowdownOf(1000, claimGoroutines(j.sizes, 1000), 1)
	if missing {
		return f
	}
	most, f, missing := j.slowdownOf(5000, claimGoroutines(j.sizes, 5000), 1)
	if missing {
		return f
	}
	return newFinding(combine(judgeTimes(thousand, 0, 1.04), judgeTimes(most, 0, 1.02)), fmt.Sprintf("1,000: %s, 5,000: %s", timesText(thousand), timesText(most)),
		sameReason(j.overheadText()))
}

// speedupAtTwo returns the time of goroutines at GOMAXPROCS 1 ÷ their time at 2.
func (j *judge) speedupAtTwo(work int) (stat.Summary, finding, bool) {
	if f, one := j.needTwoProcessors(); one {
		return stat.Summary{}, f, true
	}
	count := claimGoroutines(j.sizes, work)
	one, two := SpawnName(run.Muster, "each", work, count, 1), SpawnName(run.Muster, "each", work, count, 2)
	if f, missing := j.findMissing(one, two); missing {
		return stat.Summary{}, f, true
	}
	return j.Ratio(one, two, results.NsPerOp), finding{}, false
}

func (j *judge) compareSpeedups(works [2]int, low, high float64, why reasons) finding {
	a, f, missing := j.speedupAtTwo(works[0])
	if missing {
		return f
	}
	b, f, missing := j.speedupAtTwo(works[1])
	if missing {
		return f
	}
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
	count := claimGoroutines(j.sizes, 1)
	each, direct := SpawnName(run.Muster, "each", 1, count, 1), SpawnName(run.Muster, "direct", 1, claimCalls(j.sizes, 1), 1)
	if f, missing := j.findMissing(each, direct); missing {
		return f
	}
	s := j.Difference(each, direct, results.NsPerOp)
	return newFinding(judgeTimes(s, 100, 10_000), fmt.Sprintf("a goroutine adds %s ns: %s %% of 1 µs, %s %% of 1 ms", digits(s.Median), digits(s.Median/10), digits(s.Median/1e4)),
		sameReason("the loss is a tenth for work of "+digits(s.Median/100)+" µs"))
}

func (j *judge) erlangMemory() finding {
	name := SpawnName("erlang", "waiting", 1, j.sizes.Goroutines, 0)
	if f, missing := j.findMissing(name); missing {
		return f
	}
	const wanted = 20e6
	each := j.Summary(name, rssUnit).Median
	number, _, _ := strings.Cut(j.Condition(run.MemoryKey), " ")
	have, _ := strconv.ParseFloat(number, 64)
	here := fmt.Sprintf("%s bytes each with %s: 20 million need %s GB", digits(each), readable.Number(int64(j.sizes.Goroutines)), digits(each*wanted/1e9))
	if have == 0 {
		return finding{undecided, here, "the system does not report its memory"}
	}
	if each*wanted > have*1e9 {
		return finding{undecided, here, fmt.Sprintf("this machine has %s GB", digits(have))}
	}
	return finding{holds, here, fmt.Sprintf("this machine has %s GB", digits(have))}
}

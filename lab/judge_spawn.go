package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"muster/lab/internal/run"
	"muster/lab/results"
	"muster/lab/stat"
)

func (j *judge) slowdownOf(work, count, procs int) (stat.Summary, finding, bool) {
	each, direct := SpawnName(run.Muster, "each", work, count, procs), SpawnName(run.Muster, "direct", work, claimCalls(j.sizes, work), procs)
	if f, lacks := j.lacking(each, direct); lacks {
		return stat.Summary{}, f, true
	}
	return j.Ratio(each, direct, results.NsPerOp), finding{}, false
}

func (j *judge) goroutineBytes() finding {
	name := SpawnName(run.Muster, "waiting", 0, j.sizes.Goroutines, 1)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	s, st := j.Summary(name, sys), j.Summary(name, stack)
	return found(counted(s, 4_000, 4_700), fmt.Sprintf("%s bytes each, %s of them stack, with %s that wait", digits(s.Median), digits(st.Median), grouped(int64(j.sizes.Goroutines))),
		reasons{held: "a stack of 4 KB is most of it", gone: "a stack begins with 2 KB since Go 1.4, and had 4 before", above: "they have more than a stack of the least size, and what is beside it"}.of(s, 4_700))
}

// addedText tells what a goroutine adds to the smallest function.
func (j *judge) addedText() string {
	each, direct := SpawnName(run.Muster, "each", 1, claimCount(j.sizes, 1), 1), SpawnName(run.Muster, "direct", 1, claimCalls(j.sizes, 1), 1)
	if _, lacks := j.lacking(each, direct); lacks {
		return fasterRoots
	}
	return "a goroutine and its result take " + digits(j.Difference(each, direct, results.NsPerOp).Median) + " ns, roots a few each"
}

const fasterRoots = "a root takes a few ns today and took some hundred then, in a loop; starting a goroutine has not become faster as much"

func (j *judge) oneRoot() finding {
	s, f, lacks := j.slowdownOf(1, claimCount(j.sizes, 1), 1)
	if lacks {
		return f
	}
	return found(within(s, 3, 5), times(s), reasons{held: "both have become faster alike", gone: "starting a goroutine has become faster, beside a root, than it was", above: fasterRoots}.of(s, 5))
}

func (j *judge) tenRoots() finding {
	ten, f, lacks := j.slowdownOf(10, claimCount(j.sizes, 10), 1)
	if lacks {
		return f
	}
	hundred, f, lacks := j.slowdownOf(100, claimCount(j.sizes, 100), 1)
	if lacks {
		return f
	}
	text := fmt.Sprintf("ten: %s, a hundred: %s", times(ten), times(hundred))
	if j.sizes.Goroutines >= claimManyRoot {
		if many, _, lacks := j.slowdownOf(10, claimManyRoot, 1); !lacks {
			text += fmt.Sprintf(", ten with %s alive: %s", grouped(claimManyRoot), times(many))
		}
	}
	return found(worse(within(ten, 0, 1.5), within(hundred, 0, 1.05)), text, always(fasterRoots))
}

func (j *judge) manyRoots() finding {
	thousand, f, lacks := j.slowdownOf(1000, claimCount(j.sizes, 1000), 1)
	if lacks {
		return f
	}
	most, f, lacks := j.slowdownOf(5000, claimCount(j.sizes, 5000), 1)
	if lacks {
		return f
	}
	return found(worse(within(thousand, 0, 1.04), within(most, 0, 1.02)), fmt.Sprintf("1,000: %s, 5,000: %s", times(thousand), times(most)),
		always(j.addedText()))
}

// twoProcs is the time in goroutines at GOMAXPROCS 1 ÷ that at 2.
func (j *judge) twoProcs(work int) (stat.Summary, finding, bool) {
	if f, one := j.needsTwo(); one {
		return stat.Summary{}, f, true
	}
	count := claimCount(j.sizes, work)
	one, two := SpawnName(run.Muster, "each", work, count, 1), SpawnName(run.Muster, "each", work, count, 2)
	if f, lacks := j.lacking(one, two); lacks {
		return stat.Summary{}, f, true
	}
	return j.Ratio(one, two, results.NsPerOp), finding{}, false
}

func (j *judge) bothProcs(works [2]int, low, high float64, why reasons) finding {
	a, f, lacks := j.twoProcs(works[0])
	if lacks {
		return f
	}
	b, f, lacks := j.twoProcs(works[1])
	if lacks {
		return f
	}
	return found(worse(within(a, low, high), within(b, low, high)),
		fmt.Sprintf("%s as fast with %s, %s with %s", times(a), rootsText(works[0]), times(b), rootsText(works[1])), why)
}

func (j *judge) smallWithTwo() finding {
	return j.bothProcs([2]int{1, 10}, 0, 0.99,
		reasons{held: "threads wake one another for too little work", gone: "the scheduler wakes a second thread and lets it work on what the first one started"})
}

func (j *judge) largeWithTwo() finding {
	return j.bothProcs([2]int{1000, 5000}, 1.8, math.Inf(1),
		reasons{held: "work is all there is, and it is shared", gone: "starting goroutines and collecting their garbage is not shared as well as the work"})
}

func (j *judge) advice() finding {
	count := claimCount(j.sizes, 1)
	each, direct := SpawnName(run.Muster, "each", 1, count, 1), SpawnName(run.Muster, "direct", 1, claimCalls(j.sizes, 1), 1)
	if f, lacks := j.lacking(each, direct); lacks {
		return f
	}
	s := j.Difference(each, direct, results.NsPerOp)
	return found(within(s, 100, 10_000), fmt.Sprintf("a goroutine adds %s ns: %s %% to 1 µs, %s %% to 1 ms", digits(s.Median), digits(s.Median/10), digits(s.Median/1e4)),
		always("for a loss of a tenth the work must take "+digits(s.Median/100)+" µs"))
}

func (j *judge) erlang() finding {
	name := SpawnName("erlang", "waiting", 1, j.sizes.Goroutines, 0)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	const wanted = 20e6
	each := j.Summary(name, rss).Median
	number, _, _ := strings.Cut(j.Condition(run.MemoryKey), " ")
	have, _ := strconv.ParseFloat(number, 64)
	here := fmt.Sprintf("%s bytes each with %s: 20 million need %s GB", digits(each), grouped(int64(j.sizes.Goroutines)), digits(each*wanted/1e9))
	if have == 0 {
		return finding{cannotBeTold, here, "the system does not tell how much memory there is"}
	}
	if each*wanted > have*1e9 {
		return finding{cannotBeTold, here, fmt.Sprintf("this machine has %s GB", digits(have))}
	}
	return finding{holds, here, fmt.Sprintf("this machine has %s GB", digits(have))}
}

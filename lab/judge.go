package lab

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"muster/lab/native"
	"muster/lab/page"
	"muster/lab/stat"
)

// A finding is what became of a claim here.
type finding struct {
	verdict page.Class // Holds, NoLongerHolds or CannotBeTold
	here    string     // the figures
	why     string     // what explains them, or why it cannot be told
}

// A judge has what was measured for the claims.
type judge struct {
	*Results
	sizes ClaimSizes
	cpus  int
}

func newJudge(r *Results, sizes ClaimSizes) *judge { return &judge{r, sizes, runtime.NumCPU()} }

func cannotTell(format string, args ...any) finding {
	return finding{page.CannotBeTold, "–", fmt.Sprintf(format, args...)}
}

// lacking tells why one of the figures is not there; false if all are.
func (j *judge) lacking(names ...string) (finding, bool) {
	for _, name := range names {
		if len(j.Figures(name, nsPerOp)) > 0 || len(j.units(name)) > 0 {
			continue
		}
		why := j.absent(name)
		if why == "" {
			why = "it was not measured"
			if m, ok := j.missingFor(name); ok {
				why = "not all that is needed is here: " + m.Reason + "; on Debian " + m.Install + " brings it"
			}
		}
		return cannotTell("%s: %s", name, why), true
	}
	return finding{}, false
}

// missingFor is what a benchmark needs and is not here; false if nothing is known of that.
func (j *judge) missingFor(name string) (Missing, bool) {
	impl := keyOf(name, "impl")
	needed := []string{impl} // of programs with one contestant, and make
	for _, p := range native.Programs() {
		if slices.Contains(p.Impls, impl) {
			needed = append(needed, p.Name)
		}
	}
	switch {
	case strings.HasPrefix(name, "Corpus/"):
		needed = append(needed, corpusMissing)
	case impl == postgresImpl:
		needed = append(needed, postgresName)
	}
	i := slices.IndexFunc(j.Missing, func(m Missing) bool { return slices.Contains(needed, m.Peer) })
	if i < 0 {
		return Missing{}, false
	}
	return j.Missing[i], true
}

// ratio is how many times b's time a's is, round by round.
func (j *judge) ratio(a, b, unit string) stat.Summary {
	over, under := j.Figures(a, unit), j.Figures(b, unit)
	n := min(len(over), len(under))
	s, err := stat.Ratio(over[:n], under[:n])
	if err != nil {
		return stat.Summary{}
	}
	return s
}

// added is how much more than b's time a's is, round by round.
func (j *judge) added(a, b string) stat.Summary {
	more, less := j.Figures(a, nsPerOp), j.Figures(b, nsPerOp)
	var differences []float64
	for i := range min(len(more), len(less)) {
		differences = append(differences, more[i]-less[i])
	}
	return stat.Summarize(differences)
}

// verdict is Holds where the whole interval lies from low to high, NoLongerHolds where it
// lies elsewhere.
func verdict(s stat.Summary, low, high float64) page.Class {
	switch {
	case s.N == 0 || math.IsNaN(s.Median):
		return page.CannotBeTold
	case s.Low >= low && s.High <= high:
		return page.Holds
	case s.High < low || s.Low > high:
		return page.NoLongerHolds
	}
	return page.CannotBeTold
}

// worse is the verdict on two things that a claim says at once.
func worse(a, b page.Class) page.Class {
	switch {
	case a == page.NoLongerHolds || b == page.NoLongerHolds:
		return page.NoLongerHolds
	case a == page.CannotBeTold || b == page.CannotBeTold:
		return page.CannotBeTold
	}
	return page.Holds
}

const tooNoisy = "the figures reach to both sides of the bound: measure more often, or on a machine that does nothing else"

// found is a finding with what explains that it holds, or that it no longer does.
func found(v page.Class, here string, why reasons) finding {
	switch v {
	case page.Holds:
		return finding{v, here, why.held}
	case page.NoLongerHolds:
		return finding{v, here, why.gone}
	}
	return finding{v, here, tooNoisy}
}

// reasons are what explains either verdict.
type reasons struct {
	held, gone string
	above      string // instead of gone, where a bound to both sides is passed at its upper end; "" = gone
}

// of are those for a figure with that upper bound.
func (w reasons) of(s stat.Summary, high float64) reasons {
	if w.above != "" && s.Low > high {
		w.gone = w.above
	}
	return w
}

// always is what explains both.
func always(text string) reasons { return reasons{held: text, gone: text} }

// times writes a ratio.
func times(s stat.Summary) string {
	text := digits(s.Median) + " ×"
	if spread := s.Spread(); spread >= 0.005 {
		text += fmt.Sprintf(" ±%.0f%%", 100*spread)
	}
	return text
}

// within compares one ratio with bounds.
func (j *judge) within(a, b, unit string, low, high float64, why reasons) finding {
	if f, lacks := j.lacking(a, b); lacks {
		return f
	}
	s := j.ratio(a, b, unit)
	return found(verdict(s, low, high), times(s), why.of(s, high))
}

func (j *judge) needsTwo() (finding, bool) {
	if j.cpus >= 2 {
		return finding{}, false
	}
	return cannotTell("there is one processor"), true
}

// The articles' runner.

func (j *judge) sequentialIdles() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	name := corpusName(muster, 0)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	cpu, wall := j.Figures(name, cpuPerOp), j.Figures(name, nsPerOp)
	s, err := stat.Ratio(cpu, wall)
	if err != nil {
		return cannotTell("%v", err)
	}
	idle := 100 * (1 - s.Median/float64(j.cpus))
	return found(verdict(s, 0.5, 1.3), fmt.Sprintf("%s processors busy, %.0f %% of %d idle", digits(s.Median), math.Max(0, idle), j.cpus),
		reasons{held: "what waits for one compiler after another uses one processor", gone: "the compiler itself runs on several, or waits for its disk"})
}

func (j *judge) oneWorker() finding {
	return j.within(corpusName(muster, 1), corpusName(muster, 0), nsPerOp, 0, 1.05,
		reasons{held: "handing a case to a worker is little beside a compiler", gone: "with compilers as fast as this one what hands out is no longer little"})
}

func (j *judge) manyWorkers() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	many, none := corpusName(muster, claimWorkers), corpusName(muster, 0)
	if f, lacks := j.lacking(many, none); lacks {
		return f
	}
	s := j.ratio(none, many, nsPerOp)
	return found(verdict(s, 0.7*float64(j.cpus), math.Inf(1)), fmt.Sprintf("%s as fast on %d processors", times(s), j.cpus), reasons{held: "32 compilers keep every processor busy", gone: "32 workers are started for a run of seconds, and more compilers than processors only take turns: see those with as many"})
}

func (j *judge) better() finding {
	f := j.within(corpusName("make", j.cpus), corpusName(muster, j.cpus), nsPerOp, 1, math.Inf(1),
		reasons{held: "though it digests and keeps all that a case leaves, and make nothing but the output",
			gone: "make keeps nothing but the output; the runner digests and keeps all that a case leaves, and starts its workers first, which shows in short runs"})
	if f.here != "–" {
		f.here = "make takes " + f.here
	}
	return f
}

func (j *judge) twice() finding {
	f := j.within(corpusName(muster, j.cpus), corpusName(muster, 2*j.cpus), nsPerOp, 1.01, math.Inf(1),
		reasons{held: "what waits between two compilers is filled by another worker", gone: "where a compiler waits for no disk, as many workers as processors keep them busy, and more only switch"})
	if f.here != "–" {
		f.here = "one for each takes " + f.here + " the time of two"
	}
	return f
}

// Tasks that are handed out.

func (j *judge) dispatchOne() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, 1)
	return j.within(boost, article, nsPerOp, 6, math.Inf(1), reasons{held: "a channel hands over on one thread, where C++ wakes one of the system's",
		gone: "mutexes and wake-ups of threads have become cheaper, and C++ moves what it calls instead of copying it"})
}

func (j *judge) dispatchMany() finding {
	boost, article := j.dispatchName("cpp-boost", "single", claimJobs, j.sizes.Tasks, 0), DispatchName("article", "single", claimJobs, j.sizes.Tasks, claimJobs)
	return j.within(article, boost, nsPerOp, 0.7, math.Inf(1), reasons{held: "threads are woken for every task", gone: "Go's scheduler no longer wakes a thread for each goroutine that could run"})
}

// Channels.

func channelAt(cycles, procs int) string { return ChannelName(0, cycles, procs, 0) }

func (j *judge) channelFastest() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	worst, text := page.Holds, ""
	for _, procs := range claimProcs()[1:] {
		if f, lacks := j.lacking(channelAt(0, procs), channelAt(0, 1)); lacks {
			return f
		}
		s := j.ratio(channelAt(0, procs), channelAt(0, 1), nsPerOp)
		worst = worse(worst, verdict(s, 1, math.Inf(1)))
		text += fmt.Sprintf(", %d: %s", procs, times(s))
	}
	return found(worst, "time of 1 at "+text[2:], reasons{held: "both goroutines take turns on one processor, whatever GOMAXPROCS is", gone: "more processors take some of the work off the first"})
}

func (j *judge) channelTwo() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	return j.within(channelAt(0, 2), channelAt(0, 1), nsPerOp, 1.5, 2.5, reasons{held: "goroutines of one channel are woken on other threads",
		gone: "a goroutine that a channel wakes runs next on the same thread", above: "waking a thread takes longer beside what an item takes than it did"})
}

func (j *judge) channelRegains() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	if f, lacks := j.lacking(channelAt(0, 256), channelAt(0, 2), channelAt(0, 1)); lacks {
		return f
	}
	regained, lost := j.ratio(channelAt(0, 256), channelAt(0, 2), nsPerOp), j.ratio(channelAt(0, 256), channelAt(0, 1), nsPerOp)
	v := worse(verdict(regained, 0, 0.99), verdict(lost, 1.02, 1.25))
	return found(v, fmt.Sprintf("at 256 %s the time at 2, %s that at 1", times(regained), times(lost)), reasons{held: "more processors find what can run sooner", gone: "there is nothing to regain: GOMAXPROCS beyond what runs costs next to nothing"})
}

func (j *judge) channelThreads() finding {
	names := []string{channelAt(0, 1), channelAt(0, 2), channelAt(0, 256)}
	if f, lacks := j.lacking(names...); lacks {
		return f
	}
	one, two, many := j.summary(names[0], threads), j.summary(names[1], threads), j.summary(names[2], threads)
	if one.N == 0 || one.Median == 0 {
		return cannotTell("the system does not tell how many threads a process has")
	}
	v := worse(verdict(one, 3, 3), worse(verdict(two, 4, 6), verdict(many, 4, 6)))
	return found(v, fmt.Sprintf("%s at 1, %s at 2, %s at 256", digits(one.Median), digits(two.Median), digits(many.Median)),
		reasons{held: "the runtime has threads of its own, and starts others only for goroutines that could run",
			gone: "since Go 1.5 garbage is collected beside the program, on a quarter of GOMAXPROCS, and each that does needs a thread"})
}

func (j *judge) procsLimit() finding {
	most, none := procsName(300), procsName(0)
	if f, lacks := j.lacking(most, none); lacks {
		return f
	}
	asked, given := j.summary(most, procsUnit), j.summary(none, procsUnit)
	v := worse(verdict(asked, 1, 256), verdict(given, 1, 1))
	return finding{v, fmt.Sprintf("300 gives %s; by default it is %s", digits(asked.Median), digits(given.Median)),
		"since Go 1.5 the default is the number of processors, since 1.10 there is no limit that matters"}
}

func (j *judge) ballastWins() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	return j.within(channelAt(1_000_000, 2), channelAt(1_000_000, 1), nsPerOp, 0, 0.8, reasons{held: "filler and drainer work at the same time when work is most of it",
		gone: "a goroutine that a channel wakes runs next on the same thread, so that both take turns even then"})
}

func (j *judge) depends() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	gains, loses, unsure, text := false, false, false, ""
	for _, cycles := range claimCycles() {
		if f, lacks := j.lacking(channelAt(cycles, 2), channelAt(cycles, 1)); lacks {
			return f
		}
		s := j.ratio(channelAt(cycles, 2), channelAt(cycles, 1), nsPerOp)
		gains, loses = gains || s.High < 1, loses || s.Low > 1
		unsure = unsure || s.Low <= 1 && s.High >= 1
		text += fmt.Sprintf(", %d cycles: %s", cycles, times(s))
	}
	v := page.NoLongerHolds
	if gains && loses {
		v = page.Holds
	} else if unsure {
		v = page.CannotBeTold
	}
	return found(v, "time of 2 ÷ 1, "+text[2:], reasons{held: "what is gained by working at the same time is set against what it costs to meet", gone: "it goes the same way with every number of cycles that was tried"})
}

func (j *judge) writers() finding {
	few, many := insertName("postgres", claimWriters(j.sizes)[0]), insertName("postgres", claimWriters(j.sizes)[1])
	if f, lacks := j.lacking(few, many); lacks {
		return f
	}
	s := j.ratio(few, many, nsPerOp)
	memory := j.summary(many, clientRSS)
	return found(verdict(s, 5, math.Inf(1)), fmt.Sprintf("%s as many rows a second, in %s MB", times(s), digits(memory.Median/1e6)),
		reasons{held: "writers share one flush of the server's log", gone: "the server's processors and its log bound it; beyond its connections goroutines only wait"})
}

func (j *judge) processes() finding {
	if f, one := j.needsTwo(); one {
		return f
	}
	n := min(j.cpus, processesMax)
	all := ChannelName(0, 0, 1, n)
	one := ChannelName(0, 0, 1, 1)
	if f, lacks := j.lacking(all, one); lacks {
		return f
	}
	s := j.ratio(one, all, nsPerOp)
	return found(verdict(s, 0.9*float64(n), math.Inf(1)), fmt.Sprintf("%s with %d processes", times(s), n), reasons{held: "they share nothing but the machine's caches, memory and clock rate", gone: "processors that share a core, or a host, are not worth a whole one each"})
}

// Goroutines.

func (j *judge) slowdownOf(work, count, procs int) (stat.Summary, finding, bool) {
	each, direct := SpawnName(muster, "each", work, count, procs), SpawnName(muster, "direct", work, claimCalls(j.sizes, work), procs)
	if f, lacks := j.lacking(each, direct); lacks {
		return stat.Summary{}, f, true
	}
	return j.ratio(each, direct, nsPerOp), finding{}, false
}

func (j *judge) goroutineBytes() finding {
	name := SpawnName(muster, "waiting", 0, j.sizes.Goroutines, 1)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	s, st := j.summary(name, sys), j.summary(name, stack)
	return found(verdict(s, 4_000, 4_700), fmt.Sprintf("%s bytes each, %s of them stack, with %s that wait", digits(s.Median), digits(st.Median), grouped(int64(j.sizes.Goroutines))),
		reasons{held: "a stack of 4 KB is most of it", gone: "a stack begins with 2 KB since Go 1.4, and had 4 before", above: "they have more than a stack of the least size, and what is beside it"}.of(s, 4_700))
}

// addedText tells what a goroutine adds to the smallest function.
func (j *judge) addedText() string {
	each, direct := SpawnName(muster, "each", 1, claimCount(j.sizes, 1), 1), SpawnName(muster, "direct", 1, claimCalls(j.sizes, 1), 1)
	if _, lacks := j.lacking(each, direct); lacks {
		return fasterRoots
	}
	return "a goroutine and its result take " + digits(j.added(each, direct).Median) + " ns, roots a few each"
}

const fasterRoots = "a root takes a few ns today and took some hundred then, in a loop; starting a goroutine has not become faster as much"

func (j *judge) oneRoot() finding {
	s, f, lacks := j.slowdownOf(1, claimCount(j.sizes, 1), 1)
	if lacks {
		return f
	}
	return found(verdict(s, 3, 5), times(s), reasons{held: "both have become faster alike", gone: "starting a goroutine has become faster, beside a root, than it was", above: fasterRoots}.of(s, 5))
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
	return found(worse(verdict(ten, 0, 1.5), verdict(hundred, 0, 1.05)), text, always(fasterRoots))
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
	return found(worse(verdict(thousand, 0, 1.04), verdict(most, 0, 1.02)), fmt.Sprintf("1,000: %s, 5,000: %s", times(thousand), times(most)),
		always(j.addedText()))
}

// twoProcs is the time in goroutines at GOMAXPROCS 1 ÷ that at 2.
func (j *judge) twoProcs(work int) (stat.Summary, finding, bool) {
	if f, one := j.needsTwo(); one {
		return stat.Summary{}, f, true
	}
	count := claimCount(j.sizes, work)
	one, two := SpawnName(muster, "each", work, count, 1), SpawnName(muster, "each", work, count, 2)
	if f, lacks := j.lacking(one, two); lacks {
		return stat.Summary{}, f, true
	}
	return j.ratio(one, two, nsPerOp), finding{}, false
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
	return found(worse(verdict(a, low, high), verdict(b, low, high)),
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
	each, direct := SpawnName(muster, "each", 1, count, 1), SpawnName(muster, "direct", 1, claimCalls(j.sizes, 1), 1)
	if f, lacks := j.lacking(each, direct); lacks {
		return f
	}
	s := j.added(each, direct)
	return found(verdict(s, 100, 10_000), fmt.Sprintf("a goroutine adds %s ns: %s %% to 1 µs, %s %% to 1 ms", digits(s.Median), digits(s.Median/10), digits(s.Median/1e4)),
		always("for a loss of a tenth the work must take "+digits(s.Median/100)+" µs"))
}

func (j *judge) erlang() finding {
	name := SpawnName("erlang", "waiting", 1, j.sizes.Goroutines, 0)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	const wanted = 20e6
	each, have := j.summary(name, rss).Median, memoryTotal()
	here := fmt.Sprintf("%s bytes each with %s: 20 million need %s GB", digits(each), grouped(int64(j.sizes.Goroutines)), digits(each*wanted/1e9))
	if have == 0 {
		return finding{page.CannotBeTold, here, "the system does not tell how much memory there is"}
	}
	if each*wanted > have {
		return finding{page.CannotBeTold, here, fmt.Sprintf("this machine has %s GB", digits(have/1e9))}
	}
	return finding{page.Holds, here, fmt.Sprintf("this machine has %s GB", digits(have/1e9))}
}

// Files.

func (j *judge) notYet() finding {
	return cannotTell("this version has no file service to measure")
}

func (j *judge) exhausted() finding {
	name := exhaustName(j.sizes.ThreadsLimit)
	if f, lacks := j.lacking(name); lacks {
		return f
	}
	n, status := j.summary(name, threads), j.summary(name, exitStatus)
	v := page.NoLongerHolds
	if status.Median == 2 && n.N > 0 {
		v = page.Holds
	}
	return finding{v, "with " + grouped(int64(n.Median)) + " threads it ended with status " + strconv.Itoa(int(status.Median)),
		"reads that the poller cannot wait for were shown by a pipe that blocks"}
}

func (j *judge) messages() finding {
	protobuf, json := echoName("protobuf"), echoName("json")
	f := j.within(json, protobuf, nsPerOp, 1.2, 1.6, always("the socket is most of it, and both pay for that"))
	if f.here == "–" {
		return f
	}
	f.here += fmt.Sprintf(" as many: %s and %s a second", grouped(int64(1e9/j.summary(protobuf, nsPerOp).Median)), grouped(int64(1e9/j.summary(json, nsPerOp).Median)))
	return f
}

func (j *judge) renames() finding {
	flat, ten := layoutName(1), layoutName(10)
	if f, lacks := j.lacking(flat, ten); lacks {
		return f
	}
	s := j.ratio(flat, ten, nsPerOp)
	here := fmt.Sprintf("%s with %s files", times(s), grouped(int64(j.sizes.Renames)))
	v := verdict(s, 2, math.Inf(1))
	if v != page.Holds && j.sizes.Renames < claimRenames {
		return finding{page.CannotBeTold, here, "so few say nothing of two million: --full renames as many"}
	}
	return found(v, here, reasons{held: "one folder's names are one long list to search or to split", gone: "the file system's folders are trees, or its disk is in memory"})
}

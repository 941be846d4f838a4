package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/internal/page"
	"muster/internal/readable"
	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/results"
	"muster/lab/stat"
)

// A verdict is the result for a claim.
type verdict int

const (
	undecided verdict = iota
	holds
	noLongerHolds
)

// String returns the verdict's name in JSON.
func (v verdict) String() string {
	switch v {
	case holds:
		return "holds"
	case noLongerHolds:
		return "no_longer_holds"
	}
	return "cannot_be_told"
}

func (v verdict) class() page.Class {
	switch v {
	case holds:
		return page.Holds
	case noLongerHolds:
		return page.NoLongerHolds
	}
	return page.Undecided
}

// A finding is a verdict with its figures and the reason.
type finding struct {
	verdict verdict
	here    string // figures of this machine; "" = none
	why     string // an explanation of the figures, or the reason for no verdict
}

// A judge decides claims from results.
type judge struct {
	view
	sizes ClaimSizes
	cpus  int // processors that the program could use; 0 = nothing was measured
	// obstacle is the first reason why the present claim cannot be decided; "" = none so far.
	obstacle string
}

func newJudge(r *Results, sizes ClaimSizes) *judge {
	cpus, _ := strconv.Atoi(r.Condition(run.ProcsKey))
	return &judge{view: view{r}, sizes: sizes, cpus: cpus}
}

// judge decides a claim. The claim is undecided if it lacks something that it needs, whatever
// its own finding is.
func (j *judge) judge(c claim) finding {
	j.obstacle = ""
	f := c.decide(j)
	if j.obstacle != "" {
		return finding{why: j.obstacle}
	}
	return f
}

// need records an obstacle if one of the figures is missing.
func (j *judge) need(names ...string) { j.obstruct(j.findMissing(names...)) }

func (j *judge) obstruct(why string) { j.obstacle = cmp.Or(j.obstacle, why) }

// findMissing says which of the figures is missing first and why, "" if none is.
func (j *judge) findMissing(names ...string) string {
	for _, name := range names {
		if len(j.Figures(name, results.NsPerOp)) > 0 || len(j.Units(name)) > 0 {
			continue
		}
		why := j.Why(name)
		if why == "" {
			why = "it was not measured"
			if m, ok := j.missingFor(name); ok {
				why = "this machine lacks a requirement: " + m.Text()
			}
		}
		return name + ": " + why
	}
	return ""
}

// ratio returns the ratio of two times that the claim needs.
func (j *judge) ratio(a, b string) stat.Summary {
	j.need(a, b)
	return j.Ratio(a, b, results.NsPerOp)
}

// missingFor returns the requirement of a benchmark that this machine lacks, false if none is
// recorded.
func (j *judge) missingFor(name string) (results.Missing, bool) {
	impl := results.KeyOf(name, "impl")
	needed := []string{impl, engineMissing(results.KeyOf(name, "engine"))} // matches programs with one contestant, and make
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
	i := slices.IndexFunc(j.Missing, func(m results.Missing) bool { return slices.Contains(needed, m.Peer) })
	if i < 0 {
		return results.Missing{}, false
	}
	return j.Missing[i], true
}

// judgeTimes decides whether a timed figure lies from low to high. The claim holds if the
// whole interval does, and no longer holds if the interval lies outside. One run has no
// interval, so it decides nothing.
func judgeTimes(s stat.Summary, low, high float64) verdict {
	if s.N == 1 {
		return undecided
	}
	return judgeCounts(s, low, high)
}

// judgeCounts is judgeTimes for counted figures, which do not vary, so that one run suffices.
func judgeCounts(s stat.Summary, low, high float64) verdict {
	switch {
	case s.N == 0 || math.IsNaN(s.Median):
		return undecided
	case s.Low >= low && s.High <= high:
		return holds
	case s.High < low || s.Low > high:
		return noLongerHolds
	}
	return undecided
}

// combine returns the verdict on a claim with two parts. Both must hold.
func combine(a, b verdict) verdict {
	switch {
	case a == noLongerHolds || b == noLongerHolds:
		return noLongerHolds
	case a == undecided || b == undecided:
		return undecided
	}
	return holds
}

const (
	tooNoisy       = "the interval crosses the bound, or there is only one run: take more runs, or use an idle machine"
	threadsUnknown = "the system does not report the threads of a process"
)

// newFinding returns a finding with the reason for the verdict.
func newFinding(v verdict, here string, why reasons) finding {
	switch v {
	case holds:
		return finding{v, here, why.held}
	case noLongerHolds:
		return finding{v, here, why.gone}
	}
	return finding{v, here, tooNoisy}
}

// reasons explain why a claim holds or no longer holds.
type reasons struct {
	held, gone string
	above      string // replaces gone if the figure exceeds the upper bound; "" = gone
}

// forSide selects the reason for a figure above or below its bounds.
func (w reasons) forSide(s stat.Summary, high float64) reasons {
	if w.above != "" && s.Low > high {
		w.gone = w.above
	}
	return w
}

// sameReason returns reasons that explain both verdicts.
func sameReason(text string) reasons { return reasons{held: text, gone: text} }

// timesText formats a ratio with its interval.
func timesText(s stat.Summary) string {
	return digits(s.Median) + " ×" + spreadText(s)
}

// compare decides a claim about the ratio of the times of two benchmarks.
func (j *judge) compare(a, b string, low, high float64, why reasons) finding {
	s := j.ratio(a, b)
	return newFinding(judgeTimes(s, low, high), timesText(s), why.forSide(s, high))
}

func (j *judge) needTwoProcessors() {
	if j.cpus < 2 {
		j.obstruct("this process may use only one processor")
	}
}

func channelAt(cycles, procs int) string { return ChannelName(0, cycles, procs, 0) }

func (j *judge) channelFastest() finding {
	j.needTwoProcessors()
	worst, text := holds, ""
	for _, procs := range claimProcs()[1:] {
		s := j.ratio(channelAt(0, procs), channelAt(0, 1))
		worst = combine(worst, judgeTimes(s, 1, math.Inf(1)))
		text += fmt.Sprintf(", %d: %s", procs, timesText(s))
	}
	return newFinding(worst, "time relative to GOMAXPROCS 1, at "+text[2:], reasons{held: "both goroutines take turns on one processor at any GOMAXPROCS", gone: "further processors take over some of the work"})
}

func (j *judge) channelTwo() finding {
	j.needTwoProcessors()
	return j.compare(channelAt(0, 2), channelAt(0, 1), 1.5, 2.5, reasons{held: "a channel wakes its goroutines on other threads",
		gone: "a goroutine that a channel wakes runs next on the same thread", above: "compared with an item, waking a thread takes longer than it did"})
}

func (j *judge) channelRegains() finding {
	j.needTwoProcessors()
	regained, lost := j.ratio(channelAt(0, 256), channelAt(0, 2)), j.ratio(channelAt(0, 256), channelAt(0, 1))
	v := combine(judgeTimes(regained, 0, 0.99), judgeTimes(lost, 1.02, 1.25))
	return newFinding(v, fmt.Sprintf("at 256: %s the time at 2, and %s the time at 1", timesText(regained), timesText(lost)), reasons{held: "more processors find runnable goroutines sooner", gone: "nothing was lost: a GOMAXPROCS above the number of runnable goroutines costs next to nothing"})
}

func (j *judge) channelThreads() finding {
	names := []string{channelAt(0, 1), channelAt(0, 2), channelAt(0, 256)}
	j.need(names...)
	j.needThreads(names[0])
	one, two, many := j.Summary(names[0], threadsUnit), j.Summary(names[1], threadsUnit), j.Summary(names[2], threadsUnit)
	v := combine(judgeCounts(one, 3, 3), combine(judgeCounts(two, 4, 6), judgeCounts(many, 4, 6)))
	return newFinding(v, fmt.Sprintf("%s at 1, %s at 2, %s at 256", digits(one.Median), digits(two.Median), digits(many.Median)),
		reasons{held: "the runtime has threads of its own, and starts others only for runnable goroutines",
			gone: "since Go 1.5 the garbage collector runs beside the program, on a quarter of GOMAXPROCS, and each of its workers needs a thread"})
}

func (j *judge) procsLimit() finding {
	most, none := procsName(300), procsName(0)
	j.need(most, none)
	asked, given := j.Summary(most, procsUnit), j.Summary(none, procsUnit)
	v := combine(judgeCounts(asked, 1, 256), judgeCounts(given, 1, 1))
	return finding{v, fmt.Sprintf("a request for 300 gives %s; the default is %s", digits(asked.Median), digits(given.Median)),
		"since Go 1.5 the default is the number of processors; since Go 1.10 the limit is beyond practical values"}
}

func (j *judge) ballastWins() finding {
	j.needTwoProcessors()
	return j.compare(channelAt(1_000_000, 2), channelAt(1_000_000, 1), 0, 0.8, reasons{held: "both goroutines work at the same time when the work dominates",
		gone: "a goroutine that a channel wakes runs next on the same thread, so both take turns even then"})
}

func (j *judge) dependsOnTask() finding {
	j.needTwoProcessors()
	gains, loses, unsure, text := false, false, false, ""
	for _, cycles := range claimCycles() {
		s := j.ratio(channelAt(cycles, 2), channelAt(cycles, 1))
		switch judgeTimes(s, 0, 1) {
		case holds:
			gains = true
		case noLongerHolds:
			loses = true
		default:
			unsure = true
		}
		text += fmt.Sprintf(", %d cycles: %s", cycles, timesText(s))
	}
	v := noLongerHolds
	if gains && loses {
		v = holds
	} else if unsure {
		v = undecided
	}
	return newFinding(v, "time at 2 ÷ time at 1, "+text[2:], reasons{held: "parallel work gains time, and the exchange of items costs time", gone: "every tried number of cycles has the same result"})
}

func (j *judge) manyWriters() finding {
	few, many := insertName(postgresImpl, claimWriters(j.sizes)[0]), insertName(postgresImpl, claimWriters(j.sizes)[1])
	s := j.ratio(few, many)
	memory := j.Summary(many, clientRSS)
	return newFinding(judgeTimes(s, 5, math.Inf(1)), fmt.Sprintf("%s as many rows a second, with %s MB", timesText(s), digits(memory.Median/1e6)),
		reasons{held: "writers share flushes of the server's log", gone: "the server's processors and log are the limit; goroutines without a connection only wait"})
}

func (j *judge) manyProcesses() finding {
	j.needTwoProcessors()
	n := min(j.cpus, run.ProcessesMax)
	all := ChannelName(0, 0, 1, n)
	one := ChannelName(0, 0, 1, 1)
	j.need(all)
	s := j.ratio(one, all)
	return newFinding(judgeTimes(s, 0.9*float64(n), math.Inf(1)), fmt.Sprintf("%s with %d processes", timesText(s), n), reasons{held: "the processes share only the machine's caches, memory and clock rate", gone: "processors that share a core or a host deliver less than a whole processor each"})
}

func (j *judge) threadLimit() finding {
	name := exhaustName(j.sizes.ThreadsLimit)
	j.need(name)
	n, status := j.Summary(name, threadsUnit), j.Summary(name, exitStatusUnit)
	v := noLongerHolds
	if status.Median == 2 && n.N > 0 {
		v = holds
	}
	return finding{v, "at " + readable.Number(int64(n.Median)) + " threads the program ended with exit status " + strconv.Itoa(int(status.Median)),
		"a blocking pipe stands for reads that the poller cannot handle"}
}

func (j *judge) protobufMessages() finding {
	protobuf, json := echoName("protobuf"), echoName("json")
	f := j.compare(json, protobuf, 1.2, 1.6, sameReason("the socket dominates the cost of both"))
	f.here += fmt.Sprintf(" as many: %s and %s a second", readable.Number(int64(1e9/j.Summary(protobuf, results.NsPerOp).Median)), readable.Number(int64(1e9/j.Summary(json, results.NsPerOp).Median)))
	return f
}

func (j *judge) renamesIntoTen() finding {
	flat, ten := renameName(1), renameName(10)
	s := j.ratio(flat, ten)
	here := fmt.Sprintf("%s with %s files", timesText(s), readable.Number(int64(j.sizes.Renames)))
	v := judgeTimes(s, 2, math.Inf(1))
	if v != holds && j.sizes.Renames < claimRenames {
		return finding{undecided, here, "so few files do not show the effect of two million: measure the article's size with --full"}
	}
	return newFinding(v, here, reasons{held: "the names of a folder are one long list to search or split", gone: "the file system stores folders as trees, or its disk is in memory"})
}

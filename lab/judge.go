package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/lab/internal/run"
	"muster/lab/native"
	"muster/lab/page"
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
}

func newJudge(r *Results, sizes ClaimSizes) *judge {
	cpus, _ := strconv.Atoi(r.Condition(run.ProcsKey))
	return &judge{view{r}, sizes, cpus}
}

func newUndecided(format string, args ...any) finding {
	return finding{verdict: undecided, why: fmt.Sprintf(format, args...)}
}

// findMissing returns an undecided finding if one of the figures is missing, else false.
func (j *judge) findMissing(names ...string) (finding, bool) {
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
		return newUndecided("%s: %s", name, why), true
	}
	return finding{}, false
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

// compare decides a claim about the ratio of two benchmarks.
func (j *judge) compare(a, b, unit string, low, high float64, why reasons) finding {
	if f, missing := j.findMissing(a, b); missing {
		return f
	}
	s := j.Ratio(a, b, unit)
	return newFinding(judgeTimes(s, low, high), timesText(s), why.forSide(s, high))
}

func (j *judge) needTwoProcessors() (finding, bool) {
	if j.cpus >= 2 {
		return finding{}, false
	}
	return newUndecided("this process may use only one processor"), true
}

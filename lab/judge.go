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

// A verdict on a claim.
type verdict int

const (
	cannotBeTold verdict = iota
	holds
	noLongerHolds
)

// String is the verdict as scripts know it.
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
	return page.CannotBeTold
}

// A finding is what became of a claim here.
type finding struct {
	verdict verdict
	here    string // the figures; "" = there are none
	why     string // what explains them, or why it cannot be told
}

// A judge has what was measured for the claims.
type judge struct {
	view
	sizes ClaimSizes
	cpus  int // that the program could use; 0 = nothing was measured
}

func newJudge(r *Results, sizes ClaimSizes) *judge {
	cpus, _ := strconv.Atoi(r.Condition(run.ProcsKey))
	return &judge{view{r}, sizes, cpus}
}

func cannotTell(format string, args ...any) finding {
	return finding{verdict: cannotBeTold, why: fmt.Sprintf(format, args...)}
}

// lacking tells why one of the figures is not there; false if all are.
func (j *judge) lacking(names ...string) (finding, bool) {
	for _, name := range names {
		if len(j.Figures(name, results.NsPerOp)) > 0 || len(j.Units(name)) > 0 {
			continue
		}
		why := j.Why(name)
		if why == "" {
			why = "it was not measured"
			if m, ok := j.missingFor(name); ok {
				why = "not all that is needed is here: " + m.Text()
			}
		}
		return cannotTell("%s: %s", name, why), true
	}
	return finding{}, false
}

// missingFor is what a benchmark needs and is not here; false if nothing is known of that.
func (j *judge) missingFor(name string) (results.Missing, bool) {
	impl := results.KeyOf(name, "impl")
	needed := []string{impl, engineMissing(results.KeyOf(name, "engine"))} // of programs with one contestant, and make
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

// within is holds where the whole interval of what was timed lies from low to high,
// noLongerHolds where it lies elsewhere. One run tells nothing of chance.
func within(s stat.Summary, low, high float64) verdict {
	if s.N == 1 {
		return cannotBeTold
	}
	return counted(s, low, high)
}

// counted is within for what is counted, and is the same however often that is done.
func counted(s stat.Summary, low, high float64) verdict {
	switch {
	case s.N == 0 || math.IsNaN(s.Median):
		return cannotBeTold
	case s.Low >= low && s.High <= high:
		return holds
	case s.High < low || s.Low > high:
		return noLongerHolds
	}
	return cannotBeTold
}

// worse is the verdict on two things that a claim says at once.
func worse(a, b verdict) verdict {
	switch {
	case a == noLongerHolds || b == noLongerHolds:
		return noLongerHolds
	case a == cannotBeTold || b == cannotBeTold:
		return cannotBeTold
	}
	return holds
}

const tooNoisy = "the figures reach to both sides of the bound, or are of one run: measure more often, or on a machine that does nothing else"

// found is a finding with what explains that it holds, or that it no longer does.
func found(v verdict, here string, why reasons) finding {
	switch v {
	case holds:
		return finding{v, here, why.held}
	case noLongerHolds:
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
	return digits(s.Median) + " ×" + spreadText(s)
}

// compare compares one ratio with bounds.
func (j *judge) compare(a, b, unit string, low, high float64, why reasons) finding {
	if f, lacks := j.lacking(a, b); lacks {
		return f
	}
	s := j.Ratio(a, b, unit)
	return found(within(s, low, high), times(s), why.of(s, high))
}

func (j *judge) needsTwo() (finding, bool) {
	if j.cpus >= 2 {
		return finding{}, false
	}
	return cannotTell("there is one processor"), true
}

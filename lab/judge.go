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
	"muster/lab/native"
	"muster/lab/results"
	"muster/lab/stat"
)

// A verdict is the result for a claim, as in JSON.
type verdict string

const (
	undecided     verdict = "cannot_be_told"
	holds         verdict = "holds"
	noLongerHolds verdict = "no_longer_holds"
)

func (v verdict) class() page.Class {
	return map[verdict]page.Class{holds: page.Holds, noLongerHolds: page.NoLongerHolds, undecided: page.Undecided}[v]
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
	setting
}

func newJudge(r *Results, sizes ClaimSizes) *judge {
	cpus, _ := strconv.Atoi(r.Condition(procsKey))
	number, _, _ := strings.Cut(r.Condition(memoryKey), " ")
	gigabytes, _ := strconv.ParseFloat(number, 64)
	return &judge{view{r}, setting{sizes, cpus, gigabytes * 1e9}}
}

// A kind is how a figure follows from its benchmarks.
type kind int

const (
	total      kind = iota // the median of a
	quotient               // time of a ÷ time of b, round by round
	difference             // time of a − time of b, round by round
	busy                   // processor time of a ÷ elapsed time of a, round by round
	perSecond              // operations of a per second; never judged
)

// A figure is derived from one benchmark or two.
type figure struct {
	kind    kind
	a, b    string
	unit    string  // of a total; "" = time
	factor  float64 // scales a total or a difference; 0 = 1
	counted bool    // does not vary, so one run decides
}

func (f figure) names() []string {
	if f.b == "" {
		return []string{f.a}
	}
	return []string{f.a, f.b}
}

// summary returns the figure, without a sample if the results do not give it.
func (j *judge) summary(f figure) stat.Summary {
	switch f.kind {
	case quotient:
		return j.Ratio(f.a, f.b, j.TimeUnit(f.names()...))
	case busy:
		return stat.Ratio(j.Figures(f.a, results.CPUPerOp), j.Figures(f.a, results.NsPerOp))
	}
	unit := cmp.Or(f.unit, j.TimeUnit(f.names()...))
	s := j.Summary(f.a, unit)
	if f.kind == difference {
		s = j.Difference(f.a, f.b, unit)
	}
	factor := cmp.Or(f.factor, 1)
	s.Median, s.Low, s.High = s.Median*factor, s.Low*factor, s.High*factor
	return s
}

// format returns the text of a figure. Only ratios show their interval.
func (f figure) format(s stat.Summary) string {
	switch f.kind {
	case quotient:
		return timesText(s)
	case busy:
		return digits(s.Median) + spreadText(s)
	case perSecond:
		return readable.Number(int64(1e9 / s.Median))
	}
	return digits(s.Median)
}

// timesText formats a ratio with its interval.
func timesText(s stat.Summary) string {
	return digits(s.Median) + " ×" + spreadText(s)
}

const (
	tooNoisy       = "the interval crosses the bound, or there is only one run: take more runs, or use an idle machine"
	threadsUnknown = "the system does not report the threads of a process"
)

// decide returns the finding for a claim, which is undecided if the claim lacks something that it needs.
func (j *judge) decide(c claim) (f finding) {
	if why := j.obstacle(c); why != "" {
		return finding{verdict: undecided, why: why}
	}
	var verdicts []verdict
	for _, p := range c.parts {
		s := j.summary(p.of)
		if s.N == 0 {
			continue // a figure that is only shown
		}
		f.here += strings.ReplaceAll(p.text, "%s", p.of.format(s))
		if !p.judged() {
			continue
		}
		v := p.compare(s)
		verdicts = append(verdicts, v)
		if v == noLongerHolds && s.Low > p.high {
			c.gone = cmp.Or(p.above, c.gone)
		}
	}
	f.verdict = c.combine(verdicts)
	f.why = map[verdict]string{holds: c.held, noLongerHolds: c.gone, undecided: tooNoisy}[f.verdict]
	if c.unproven != "" && f.verdict != holds {
		f.verdict, f.why = undecided, c.unproven
	}
	if c.proviso != nil && !j.met(*c.proviso) {
		f.verdict, f.why = undecided, strings.ReplaceAll(c.proviso.text, "%s", c.proviso.of.format(j.summary(c.proviso.of)))
	}
	if c.hint != nil && !j.met(*c.hint) {
		f.why += c.hint.text
	}
	return f
}

// met reports whether the median of a proviso or a hint is within its bounds.
func (j *judge) met(p part) bool {
	s := j.summary(p.of)
	return s.Median >= p.low && s.Median <= p.high
}

// obstacle returns the first requirement of a claim that is missing, "" if none is.
func (j *judge) obstacle(c claim) string {
	if c.parallel && j.cpus < 2 {
		return "this process may use only one processor"
	}
	parts := slices.DeleteFunc(slices.Clone(c.parts), func(p part) bool { return !p.judged() })
	if c.hint != nil {
		parts = append(parts, *c.hint)
	}
	for _, p := range parts {
		if why := j.findMissing(p.of.names()...); why != "" {
			return why
		}
	}
	for _, p := range parts {
		switch s := j.summary(p.of); {
		case p.of.unit == results.Threads && (s.N == 0 || s.Median == 0):
			return threadsUnknown
		case s.N == 0:
			return p.of.a + ": its figures give no result: measure again"
		}
		// The reason of a proviso is better than that of a meaningless figure.
		if why := j.whyMeaningless(p.of); why != "" && (c.proviso == nil || j.met(*c.proviso)) {
			return why
		}
	}
	return ""
}

// whyMeaningless returns the reason why a figure says nothing about this machine, "" if it may
// be judged. Memory and counts that do not depend on the processors are never meaningless.
func (j *judge) whyMeaningless(f figure) string {
	timed := f.unit == ""
	for _, name := range f.names() {
		share := j.Disturbance(name)
		if share > results.DisturbedMax && (f.unit == results.Threads || timed && (f.kind == busy || j.TimeUnit(f.names()...) == results.NsPerOp)) {
			return fmt.Sprintf("%s: other programs took %.0f %% of the processors' time: measure again while the machine is idle", name, 100*share)
		}
		for _, w := range j.WarningsOf([]string{name}) {
			if timed && w.Kind != stat.TooNoisy { // the interval decides on noise
				return fmt.Sprintf("%s: %v: %s", name, w.Kind, w.Text)
			}
		}
	}
	return ""
}

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
	if strings.HasPrefix(name, "Corpus/") {
		needed = append(needed, corpusMissing)
	}
	i := slices.IndexFunc(j.Missing, func(m results.Missing) bool { return slices.Contains(needed, m.Peer) })
	if i < 0 {
		return results.Missing{}, false
	}
	return j.Missing[i], true
}

func (p part) judged() bool { return p.high > 0 }

// compare decides whether the figure is within its bounds: it holds if the whole interval is,
// and no longer holds if the interval lies outside. One run of a figure that varies has no
// interval, so it decides nothing.
func (p part) compare(s stat.Summary) verdict {
	switch {
	case math.IsNaN(s.Median) || s.N == 1 && !p.of.counted:
		return undecided
	case s.Low >= p.low && s.High <= p.high:
		return holds
	case s.High < p.low || s.Low > p.high:
		return noLongerHolds
	}
	return undecided
}

// combine returns the verdict on a claim from those on its parts. With either, the claim holds if at least
// one part holds and at least one does not.
func (c claim) combine(parts []verdict) verdict {
	gone, unsure := slices.Contains(parts, noLongerHolds), slices.Contains(parts, undecided)
	switch {
	case c.either && gone && slices.Contains(parts, holds):
		return holds
	case unsure && (c.either || !gone):
		return undecided
	case c.either || gone:
		return noLongerHolds
	}
	return holds
}

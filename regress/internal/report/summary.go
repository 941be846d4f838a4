package report

import (
	"time"

	"muster/regress/internal/outcome"
)

// The commands whose runs are kept.
const (
	RecordCommand  = "record" // there is no golden to compare with
	CheckCommand   = "check"
	CompareCommand = "compare" // there is none to accept into
)

// Summary is what a run came to.
type Summary struct {
	Command     string
	Run         string
	Cases       int // selected
	Recorded    int // record: cases that are in the golden now
	NotRun      int // of Cases, left out by an interrupt or --fail-fast
	Verdicts    Verdicts
	Masked      Masked
	Selection   string    // selection of the golden, as flags; "" = it has none, or --all-cases lifts it
	NotSampled  int       // cases that only the recorded sample leaves out
	Sources     Sources   // of a check: what is not as it was recorded
	Settings    []string  // sentences, one for each setting that is not the recorded one
	Stopped     int       // new or flaky cases that a signal or a limit ended: accept takes them with --failing alone
	Endings     Endings   // record: how the cases ended
	Failing     []Failure // record: the first failing cases, in corpus order
	Interrupted bool
	BrokeOff    bool // before its end, so that --resume goes on: it was interrupted, or the machine failed it
	Mixed       bool // its tool changed while it ran, so that --resume refuses it
	Groups      int  // causes
	ExitStatus  int
	Wall        time.Duration
	CPU         time.Duration // of the tool, all runs of all cases
	OwnCPU      time.Duration // of muster itself
	CoresBusy   float64
	Merged      int         // runs that were merged: no case ran here
	ToolChanged []string    // check: paths of the tool's files that changed since the golden was recorded
	Over        []string    // the limits of --fail-on that the tool's cost passes
	Engine      *EngineRuns // on an engine; nil where the cases ran on this machine
}

// measured reports whether what the tool took is known, of some runs at least.
func (s Summary) measured() bool { return s.Engine == nil || s.CPU > 0 }

// notRun returns how many cases have no verdict, also for a run that broke off
// before it counted them.
func (s Summary) notRun() int {
	if s.Command == RecordCommand {
		return s.NotRun
	}
	return max(s.NotRun, s.Cases-s.Verdicts[outcome.Identical]-s.Verdicts.NotIdentical())
}

// Masked counts the parts that were not compared. At record it counts those that will not be.
type Masked struct {
	Cases int // includes CutOff and Ignored
	Parts int // includes CutOffParts and IgnoredParts
	// CutOff counts the cases that a limit ended both at record and now, and CutOffParts
	// their parts. Only the ending of these cases is compared.
	CutOff, CutOffParts int
	// Ignored counts the cases with parts that are never compared, as the user asked, and
	// IgnoredParts these parts. IgnoredAlone counts those of the cases that have no other
	// part that was not compared.
	Ignored, IgnoredParts, IgnoredAlone int
}

// Add adds the parts of a case that were not compared.
func (m *Masked) Add(c Case) {
	if len(c.Masked)+len(c.Ignored) == 0 {
		return
	}
	m.Cases++
	m.Parts += len(c.Masked) + len(c.Ignored)
	if len(c.Ignored) > 0 {
		m.Ignored++
		m.IgnoredParts += len(c.Ignored)
	}
	if len(c.Masked) == 0 {
		m.IgnoredAlone++
	} else if c.Ending != nil && c.Ending.Partial() {
		m.CutOff++
		m.CutOffParts += len(c.Masked)
	}
}

// Verdicts counts cases by verdict.
type Verdicts [outcome.Identical + 1]int

// NotIdentical returns how many cases have any other verdict than identical.
func (v Verdicts) NotIdentical() int {
	sum := 0
	for verdict, n := range v {
		if outcome.Verdict(verdict) != outcome.Identical {
			sum += n
		}
	}
	return sum
}

// Endings counts outcomes by the way they ended.
type Endings struct {
	Succeeded, Failed, Signalled, TimedOut, OutOfMemory, OutputLimit int
}

// Failing returns how many outcomes did not end with exit status 0.
func (e Endings) Failing() int {
	return e.Failed + e.Signalled + e.TimedOut + e.OutOfMemory + e.OutputLimit
}

// Add counts one more.
func (e *Endings) Add(ending outcome.Ending) {
	switch ending.Kind {
	case outcome.Exited:
		if ending.Success() {
			e.Succeeded++
		} else {
			e.Failed++
		}
	case outcome.Signalled:
		e.Signalled++
	case outcome.TimedOut:
		e.TimedOut++
	case outcome.OutOfMemory:
		e.OutOfMemory++
	case outcome.OutputLimit:
		e.OutputLimit++
	}
}

package regress

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is the result of a check for one case: a closed set, strongest first.
type Verdict uint8

// The verdicts.
const (
	EnvironmentFailed  Verdict = iota // the machine failed, not the tool
	NewlyTimedOut                     // the limit of time ended the case, unlike in the golden
	NewlyOutOfMemory                  // the limit of memory did
	NewlyOutputLimited                // the limit of output did
	Crashed                           // unlike in the golden, a signal ended the case
	NewlyFailing                      // exit 0 in the golden, and not now
	NewlyPassing                      // the reverse
	Changed
	Flaky        // some runs are identical with the golden, and some are not
	DifferedOnce // the run was interrupted before the case ran again
	New          // not in the golden
	Missing      // in the golden, selected, and not in the corpus
	Identical
)

var verdictNames = [...]string{
	"environment", "timed-out", "out-of-memory", "output-limit", "crashed", "newly-failing",
	"newly-passing", "changed", "flaky", "differed-once", "new", "missing", "identical",
}

// AllVerdicts lists the closed set, strongest first.
func AllVerdicts() []Verdict {
	all := make([]Verdict, len(verdictNames))
	for i := range all {
		all[i] = Verdict(i)
	}
	return all
}

// String returns the verdict as people read it: "newly-failing".
func (v Verdict) String() string { return verdictNames[v] }

// Key returns the verdict as scripts read it: "newly_failing".
func (v Verdict) Key() string { return strings.ReplaceAll(v.String(), "-", "_") }

// MarshalText writes Key.
func (v Verdict) MarshalText() ([]byte, error) {
	if int(v) >= len(verdictNames) {
		return nil, fmt.Errorf("verdict %d is not known", v)
	}
	return []byte(v.Key()), nil
}

// UnmarshalText reads Key or String.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdictNames[:], strings.ReplaceAll(string(text), "_", "-"))
	if i < 0 {
		return fmt.Errorf("verdict %q is not known", text)
	}
	*v = Verdict(i)
	return nil
}

// Package regress has the public data of the commands that record outcomes and compare them: options,
// summaries, verdicts and classes of errors. The commands are the packages beside it.
//
// A command takes Options, which have a field for each flag. It returns a Summary, or an error;
// ClassOf returns the class of the error. While one command writes to a golden or a state folder, a
// second one fails with an error of class Input.
//
// The package must not read files, check options or print. It imports the standard library only.
package regress

import (
	"context"
	"errors"
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

// Class is the class of a failure: it decides who must act.
type Class int

// The classes. The zero value None means that the error is not a failure of this set.
const (
	None        Class = iota
	Input             // usage, configuration, hostile or damaged input, no golden: the caller must change something
	Environment       // disk full, command not found, lane refused: the machine must change
	Empty             // nothing selected
	Interrupted       // a signal ended the run; finished work is kept
)

// Exit statuses of the program, which `muster help exit-codes` explains.
const (
	StatusClean       = 0
	StatusDiffers     = 1 // something is not identical; no class has it
	StatusInput       = 2
	StatusEnvironment = 3
	StatusEmpty       = 4
	StatusInterrupted = 130 // 128 + SIGINT, as in shells
)

// Status returns the exit status for a class.
func (c Class) Status() int {
	switch c {
	case None:
		return StatusClean
	case Input:
		return StatusInput
	case Empty:
		return StatusEmpty
	case Interrupted:
		return StatusInterrupted
	}
	return StatusEnvironment
}

// Classified is an error with a class.
type Classified interface {
	error
	Class() Class
}

// ClassOf returns the class of the outermost classified error in err's chain. It returns
// Interrupted for a cancelled context, None for nil, and Environment for all other errors: an
// unforeseen error is never blamed on the tool.
func ClassOf(err error) Class {
	var classified Classified
	switch {
	case err == nil:
		return None
	case errors.As(err, &classified):
		return classified.Class()
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Environment
}

// Failure is a case that did not exit with 0 when it was recorded.
type Failure struct {
	Name   string `json:"name" name:"printed"`
	Ending Ending `json:"ended"`
	Line   string `json:"error"` // the first line of its error output; "" if it printed nothing
}

// EndingKind is the way in which the run of a case ended.
type EndingKind uint8

// The kinds, a closed set. A limit causes the last three. The output is then not complete: it is kept
// for people to read, and not compared. Package lane has the same list for its protocol, and goldens
// keep the number, so a new kind comes last in both.
const (
	Exited EndingKind = iota
	Signalled
	TimedOut
	OutOfMemory
	OutputLimit
)

var kindNames = [...]string{"exited", "signalled", "timed-out", "out-of-memory", "output-limit"}

// String returns the ending's name as reports print it.
func (k EndingKind) String() string { return kindNames[k] }

// MarshalText writes the name.
func (k EndingKind) MarshalText() ([]byte, error) {
	if int(k) >= len(kindNames) {
		return nil, fmt.Errorf("ending %d is not known", k)
	}
	return []byte(kindNames[k]), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *EndingKind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("ending %q is not known", text)
	}
	*k = EndingKind(i)
	return nil
}

// Ending is the end of the run of a case. Code is the exit status for Exited, the number of the signal
// for Signalled, else 0.
type Ending struct {
	Kind EndingKind `json:"kind"`
	Code int        `json:"code"`
}

// Partial reports whether a limit ended the run, so that its output is not complete.
func (e Ending) Partial() bool { return e.Kind >= TimedOut }

// Success reports whether the command exited with status 0.
func (e Ending) Success() bool { return e == Ending{Exited, 0} }

// signalNames are Linux's, by number: a golden may be read on another system.
var signalNames = [...]string{
	1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE",
	9: "KILL", 10: "USR1", 11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 16: "STKFLT",
	17: "CHLD", 18: "CONT", 19: "STOP", 20: "TSTP", 21: "TTIN", 22: "TTOU", 23: "URG", 24: "XCPU",
	25: "XFSZ", 26: "VTALRM", 27: "PROF", 28: "WINCH", 29: "IO", 30: "PWR", 31: "SYS",
}

// String returns "exit 1", "signal 11 (SIGSEGV)" or the kind's name.
func (e Ending) String() string {
	switch e.Kind {
	case Exited:
		return fmt.Sprintf("exit %d", e.Code)
	case Signalled:
		if e.Code > 0 && e.Code < len(signalNames) {
			return fmt.Sprintf("signal %d (SIG%s)", e.Code, signalNames[e.Code])
		}
		return fmt.Sprintf("signal %d", e.Code)
	}
	return e.Kind.String()
}

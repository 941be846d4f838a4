package regress

import (
	"fmt"
	"slices"
)

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
	Kind EndingKind `json:"kind" line:"kind"`
	Code int        `json:"code" line:"code"`
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

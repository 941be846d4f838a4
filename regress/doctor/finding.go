package doctor

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// State is whether a requirement is met.
type State string

// The states. The zero value is OK.
const (
	OK      State = ""        // nothing is missing
	Limited State = "limited" // it works, with a disadvantage
	Failed  State = "failed"  // it does not work
)

// Purpose names the commands that have a requirement.
type Purpose string

// The purposes.
const (
	Cases   Purpose = "record and check"
	Service Purpose = "serve"
	Lab     Purpose = "lab"
)

// A Finding is the result for one requirement.
type Finding struct {
	Name  string
	For   Purpose
	State State
	Text  string
	Mend  string // "" = nothing to do, or nothing is known to help
}

// CanRunCases reports whether record and check work.
func CanRunCases(list []Finding) bool {
	return !slices.ContainsFunc(list, func(f Finding) bool { return f.For == Cases && f.State == Failed })
}

// Write writes findings by purpose, and whether record and check work.
func Write(w io.Writer, list []Finding) error {
	text := ""
	purpose := Purpose("")
	for _, f := range list {
		if f.For != purpose {
			purpose = f.For
			text += fmt.Sprintf("for %s:\n", purpose)
		}
		text += fmt.Sprintf("  %-7s  %-11s  %s\n", cmp.Or(f.State, "ok"), f.Name, f.Text)
		if f.Mend != "" {
			text += fmt.Sprintf("  %-7s  %-11s  → %s\n", "", "", f.Mend)
		}
	}
	verdict := "record and check work on this machine"
	if !CanRunCases(list) {
		verdict = "record and check do not work on this machine: fix the lines marked failed"
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", text, verdict)
	return err
}

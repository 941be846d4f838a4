package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"muster/regress"
)

// State is whether a requirement is met.
type State string

// The states. The zero value is OK.
const (
	OK      State = ""        // nothing is missing
	Limited State = "limited" // it works, with a disadvantage
	Failed  State = "failed"  // it does not work
)

// MarshalText writes "ok" for OK.
func (s State) MarshalText() ([]byte, error) { return []byte(s.word()), nil }

func (s State) word() string {
	if s == OK {
		return "ok"
	}
	return string(s)
}

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
	Name  string  `json:"name"`
	For   Purpose `json:"for"`
	State State   `json:"state"`
	Text  string  `json:"text"`
	Mend  string  `json:"remedy"` // "" = nothing to do, or nothing is known to help
}

// CanRunCases reports whether record and check work.
func CanRunCases(list []Finding) bool {
	return !slices.ContainsFunc(list, func(f Finding) bool { return f.For == Cases && f.State == Failed })
}

// Write writes findings in a format, by purpose, and whether record and check work.
func Write(w io.Writer, format regress.Format, list []Finding) error {
	works := CanRunCases(list)
	if format == regress.JSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, f := range list {
			line := struct {
				Type string `json:"type"`
				Finding
			}{"finding", f}
			if err := e.Encode(line); err != nil {
				return err
			}
		}
		return e.Encode(struct {
			Type  string `json:"type"`
			Works bool   `json:"record_and_check"`
		}{"summary", works})
	}
	text := ""
	purpose := Purpose("")
	for _, f := range list {
		if f.For != purpose {
			purpose = f.For
			text += fmt.Sprintf("for %s:\n", purpose)
		}
		text += fmt.Sprintf("  %-7s  %-11s  %s\n", f.State.word(), f.Name, f.Text)
		if f.Mend != "" {
			text += fmt.Sprintf("  %-7s  %-11s  → %s\n", "", "", f.Mend)
		}
	}
	verdict := "record and check work on this machine"
	if !works {
		verdict = "record and check do not work on this machine: fix the lines marked failed"
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", text, verdict)
	return err
}

package pastrun

import (
	"context"
	"slices"
	"strings"

	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/state"
)

// A Target is what a word of a user names: a cause, by its ID, or a case.
type Target struct {
	Cause  *cause.Cause  // nil for a case
	Found  *cause.Found  // has the cause
	Result *state.Result // of the case
}

// FindTarget returns what a word such as G1 names, or a case name. A case whose name looks like
// the ID of a cause is named ./G1.
func (r *Run) FindTarget(ctx context.Context, word string) (t Target, err error) {
	if IsCauseID(word) {
		if t.Found, err = r.Causes(); err != nil {
			return t, err
		}
		for i := range t.Found.Causes {
			if t.Found.Causes[i].ID == word {
				t.Cause = &t.Found.Causes[i]
				return t, nil
			}
		}
		if caseName, err := name.ParseTyped(word); err != nil || r.Result(caseName) == nil {
			return t, fault.Inputf("run %s has no cause %s, it has %d: muster groups lists them", r.ID, word, len(t.Found.Causes))
		}
	}
	caseName, err := name.ParseTyped(word)
	if err != nil {
		return t, err
	}
	if t.Result = r.Result(caseName); t.Result == nil {
		if upper := strings.ToUpper(word); IsCauseID(upper) {
			return t, fault.Inputf("run %s has no case %s: did you mean the cause %s?", r.ID, word, upper)
		}
		if list := strings.Split(word, ","); len(list) > 1 && !slices.ContainsFunc(list, func(id string) bool { return !IsCauseID(id) }) {
			return t, fault.Inputf("run %s has no case %s: name causes apart, as in %s", r.ID, word, strings.Join(list, " "))
		}
		err = r.explainAbsence(ctx, caseName)
	}
	return t, err
}

// IsCauseID reports whether a word looks like the ID of a cause.
func IsCauseID(word string) bool {
	if len(word) < 2 || word[0] != 'G' {
		return false
	}
	for _, c := range word[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

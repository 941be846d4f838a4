package content

import (
	"muster/regress/internal/hole"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// A Side is one outcome of a case with its contents. Only one goroutine may use it at a time.
type Side struct {
	Outcome *outcome.Outcome
	Open    Opener

	patterns map[patternKey]*hole.Pattern // found so far; nil = they are not kept
}

// patternKey names a pattern of a side: a part in one form.
type patternKey struct {
	outcome.Key
	outcome.Form
}

// NewSide returns a side that keeps the patterns of its flaky parts. All calls must have the same
// rules.
func NewSide(o *outcome.Outcome, open Opener) Side {
	return Side{o, open, map[patternKey]*hole.Pattern{}}
}

// KeptSide returns the side of a candidate. o joins several runs, and only the run whose contents
// were kept was compared.
func KeptSide(o *outcome.Outcome, open Opener) Side { return Side{Outcome: o.Kept(), Open: open} }

// Shown returns the content of a part after the rewrites. It returns nil for a nil part, and for a
// part without content.
func Shown(rules normalize.Rules, open Opener, p *outcome.Part) ([]byte, error) {
	if p == nil || p.Form == outcome.Gone || p.Form == outcome.Ignored {
		return nil, nil
	}
	b, err := ReadAll(open, *p)
	if err != nil || p.Form != outcome.Regular {
		return b, err
	}
	return rules.Apply(p.Key, b), nil
}

// FlakyParts names the parts of an outcome that are known to be flaky, by outcome.PartName.
func FlakyParts(o *outcome.Outcome) []string {
	var names []string
	if o.EndingFlaky() {
		names = append(names, outcome.EndingPart)
	}
	for _, p := range outcome.Folded(o).Parts {
		if p.Flaky {
			names = append(names, outcome.PartName(p.Key))
		}
	}
	return names
}

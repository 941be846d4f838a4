package regress

import (
	"muster/regress/internal/golden"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
	"muster/regress/internal/state"
)

// newlyIgnored counts the parts that a golden had, and that its new outcomes ignore. An accept
// drops their contents, and no later check compares them.
type newlyIgnored struct{ parts, cases int }

func (n *newlyIgnored) add(old, now *outcome.Outcome) {
	parts := 0
	for _, k := range now.IgnoredParts() {
		if p, known := old.Part(k); known && p.Form != outcome.Ignored {
			parts++
		}
	}
	if parts > 0 {
		n.parts, n.cases = n.parts+parts, n.cases+1
	}
}

// text is "" for no parts.
func (n newlyIgnored) text() string {
	if n.parts == 0 {
		return ""
	}
	return readable.Count(n.parts, "part") + " in " + readable.Count(n.cases, "case") +
		" not compared from now on: --ignore names them, and the golden keeps no content of them"
}

// previewIgnored counts what promoting results would drop.
func previewIgnored(recorded, found *golden.Store, promoted []*state.Result) (n newlyIgnored, err error) {
	for _, r := range promoted {
		old, known, err := recorded.Get(string(r.Name))
		if err != nil {
			return n, err
		}
		now, kept, err := found.Get(string(r.Name))
		if err != nil {
			return n, err
		}
		if known && kept {
			n.add(&old.Outcome, &now.Outcome)
		}
	}
	return n, nil
}

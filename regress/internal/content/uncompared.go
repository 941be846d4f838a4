package content

import (
	"slices"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// Uncompared names the parts of a case that were not compared. Only one goroutine may use a value
// at a time.
type Uncompared struct {
	Masked  []string // the golden outcome varies in them, or a limit ended it
	Ignored []string // --ignore names them on either side, sorted
	Holes   regress.Holes
}

// UncomparedIn returns the parts of a golden outcome that are not compared in full with any further
// run under rules. A flaky part is not among them if all its texts are the same under the rules.
func UncomparedIn(rules normalize.Rules, s Side) (u Uncompared, err error) {
	if !s.Outcome.Ending.Partial() {
		return VaryingIn(rules, s)
	}
	for _, p := range s.Outcome.Parts {
		if p.Form != outcome.Ignored {
			u.Masked = append(u.Masked, outcome.PartName(p.Key))
		}
	}
	u.Ignored = IgnoredParts(s.Outcome)
	return u, nil
}

// VaryingIn is UncomparedIn for the ending and the flaky parts alone.
func VaryingIn(rules normalize.Rules, s Side) (u Uncompared, err error) {
	u.Ignored = IgnoredParts(s.Outcome)
	if s.Outcome.EndingFlaky() {
		u.Masked = append(u.Masked, outcome.EndingPart)
	}
	for _, p := range outcome.Folded(s.Outcome).Parts {
		if !p.Flaky {
			continue
		}
		varies, err := s.count(&u.Holes, rules, p)
		if err != nil {
			return u, err
		}
		if own, _ := s.Outcome.Part(p.Key); varies || own.Seen != p.Seen { // its name varies
			u.Masked = append(u.Masked, outcome.PartName(p.Key))
		}
	}
	return u, nil
}

// With adds the ignored parts of the run that was compared.
func (u Uncompared) With(now *outcome.Outcome) Uncompared { return u.Plus(IgnoredParts(now)) }

// Plus adds ignored parts. A part counts once, even with several reasons.
func (u Uncompared) Plus(ignored []string) Uncompared {
	if u.Ignored = Union(u.Ignored, ignored); len(u.Ignored) == 0 {
		return u
	}
	u.Masked = slices.DeleteFunc(u.Masked, func(part string) bool {
		_, isIgnored := slices.BinarySearch(u.Ignored, part)
		return isIgnored
	})
	return u
}

// PlusPrinted adds ignored parts by their printed names, as stored with a run. Its error is of
// class fault.Input.
func (u Uncompared) PlusPrinted(names []string) (Uncompared, error) {
	ignored := make([]string, len(names))
	for i, text := range names {
		var err error
		if ignored[i], err = name.Parse(text); err != nil {
			return u, fault.Inputf("the journal of the run is damaged: %w: run without --resume", err)
		}
	}
	return u.Plus(ignored), nil
}

// Union returns the elements of both lists, sorted, each once.
func Union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

package content

import (
	"bytes"
	"context"
	"slices"

	"golang.org/x/sync/semaphore"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// A Sameness returns a function that compares parts of two outcomes by content. Comparer.Same has
// its form.
type Sameness func(old, now Opener) outcome.Same

// SameUnder compares two parts after the rules have rewritten them. It compares a flaky part around
// its holes. Errors are those of the openers.
func SameUnder(rules normalize.Rules, old, now Side) outcome.Same {
	return func(o, n outcome.Part) (bool, error) {
		switch {
		case o.Flaky:
			return around(rules, old, o, now.Open, n)
		case n.Flaky:
			return around(rules, now, n, old.Open, o)
		case !rules.Applies(o.Key):
			return false, nil
		}
		a, err := ReadAll(old.Open, o)
		if err != nil {
			return false, err
		}
		b, err := ReadAll(now.Open, n)
		if err != nil {
			return false, err
		}
		return bytes.Equal(rules.Apply(o.Key, a), rules.Apply(n.Key, b)), nil
	}
}

// heldMax bounds the bytes of outcomes in memory for comparison. An engine may run very many cases
// at once, with large outputs. Lines and causes take several times the memory of their contents.
const heldMax = 128 << 20

// Comparer compares contents under rules, within a bound on memory. Any number of goroutines may
// use it at once.
type Comparer struct {
	rules normalize.Rules
	room  *semaphore.Weighted
}

// NewComparer returns a comparer with heldMax bytes of room.
func NewComparer(rules normalize.Rules) Comparer {
	return Comparer{rules, semaphore.NewWeighted(heldMax)}
}

// Size returns the bytes of all parts of an outcome, with those of all runs of a flaky part.
func Size(o *outcome.Outcome) (sum int64) {
	for i := range o.Parts {
		sum += sizeWithVariants(o.Parts[i])
	}
	return sum
}

// Hold waits until that many bytes are free, calls do, and returns its error. A request above
// heldMax waits until nobody else holds any. Calls must not be nested: an inner call could wait for
// the outer one. A call waits for others that end by themselves, even after an interrupt.
func (c Comparer) Hold(bytes int64, do func() error) error {
	bytes = min(max(bytes, 0), heldMax)
	if err := c.room.Acquire(context.Background(), bytes); err != nil {
		return err
	}
	defer c.room.Release(bytes)
	return do()
}

// Same is SameUnder with the rules and the bound of the comparer. It must not be called within
// Hold.
func (c Comparer) Same(old, now Opener) outcome.Same {
	return c.SameSides(Side{Open: old}, Side{Open: now})
}

// SameSides is Same for sides, which may keep patterns.
func (c Comparer) SameSides(old, now Side) outcome.Same {
	under := SameUnder(c.rules, old, now)
	return func(o, n outcome.Part) (same bool, err error) {
		if !o.Flaky && !n.Flaky && !c.rules.Applies(o.Key) {
			return false, nil
		}
		err = c.Hold(sizeWithVariants(o)+sizeWithVariants(n), func() (err error) {
			same, err = under(o, n)
			return err
		})
		return same, err
	}
}

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
	for _, p := range s.Outcome.Parts {
		if !p.Flaky {
			continue
		}
		varies, err := s.count(&u.Holes, rules, p)
		if err != nil {
			return u, err
		}
		if varies {
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

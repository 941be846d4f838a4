package content

import (
	"bytes"
	"context"

	"golang.org/x/sync/semaphore"

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

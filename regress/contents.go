package regress

import (
	"bytes"
	"errors"
	"io"

	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// opener opens the content of a part of one outcome.
type opener func(outcome.Part) (io.ReadCloser, error)

// sameUnder returns how two parts compare once the rules have rewritten them.
func sameUnder(rules normalize.Rules, old, now opener) outcome.Same {
	if len(rules) == 0 {
		return nil
	}
	return func(o, n outcome.Part) (bool, error) {
		if !rules.Applies(o.Key) {
			return false, nil
		}
		a, err := readAll(old, o)
		if err != nil {
			return false, err
		}
		b, err := readAll(now, n)
		if err != nil {
			return false, err
		}
		return bytes.Equal(rules.Apply(o.Key, a), rules.Apply(n.Key, b)), nil
	}
}

func readAll(open opener, p outcome.Part) ([]byte, error) {
	r, err := open(p)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

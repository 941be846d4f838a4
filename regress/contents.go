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

// sameness is how the parts of two outcomes compare.
type sameness func(old, now opener) outcome.Same

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

// rememberedMax is how many bytes of one outcome are remembered: those of nearly all, and
// little beside what the lanes may hold.
const rememberedMax = 16 << 20

// remembering returns an opener for a case that is looked at several times, to be compared,
// for its causes and for its excerpt: what it opened it keeps, while there is room, until
// it is forgotten itself. Contents must not change meanwhile. It is for one goroutine.
func remembering(open opener) opener {
	kept, room := map[outcome.Key][]byte{}, int64(rememberedMax)
	return func(p outcome.Part) (io.ReadCloser, error) {
		if b, known := kept[p.Key]; known {
			return newHeld(b), nil
		}
		if p.Size > room {
			return open(p)
		}
		b, err := readAll(open, p)
		if err != nil {
			return nil, err
		}
		kept[p.Key] = b
		room -= int64(len(b))
		return newHeld(b), nil
	}
}

// held is content that is in memory already.
type held struct {
	*bytes.Reader
	whole []byte
}

func newHeld(b []byte) held { return held{bytes.NewReader(b), b} }

func (held) Close() error { return nil }

// readAll reads a part whole. Nobody may change what it returns.
func readAll(open opener, p outcome.Part) ([]byte, error) {
	r, err := open(p)
	if err != nil {
		return nil, err
	}
	if h, ok := r.(held); ok {
		return h.whole, nil
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// Package content opens and compares the contents of outcomes. A Side is an outcome with a function
// that opens its parts. Its input is both sides of a case and the rules of --normalize. Its output
// is whether two parts are the same, their texts after the rewrites, and the names of the parts
// that were not compared.
//
// It opens no file itself: callers pass an Opener. It knows no run, report or verdict.
package content

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/hole"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

// An Opener opens the content of a part of one outcome. The caller closes the reader. Whether
// several goroutines may call it at once depends on the store behind it.
type Opener func(outcome.Part) (io.ReadCloser, error)

// ReadAll reads a whole part. Do not change the bytes: they may be shared.
func ReadAll(open Opener, p outcome.Part) ([]byte, error) {
	r, err := open(p)
	if err != nil {
		return nil, err
	}
	if h, ok := r.(memoryReader); ok {
		return h.whole, nil
	}
	b, err := io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}

// memoryReader reads content that is already in memory. ReadAll returns it without a copy.
type memoryReader struct {
	*bytes.Reader
	whole []byte
}

func newMemoryReader(b []byte) memoryReader { return memoryReader{bytes.NewReader(b), b} }

func (memoryReader) Close() error { return nil }

// rememberedMax bounds the bytes that Remembering keeps of one outcome. Nearly all outcomes are
// smaller, and many lanes may hold outcomes at once.
const rememberedMax = 16 << 20

// Cache returns an opener that keeps up to 16 MiB of what it opened. Use it for a case that
// is read several times: for its comparison, its causes and its excerpt. Contents must not change
// meanwhile. Only one goroutine may use the opener.
func Cache(open Opener) Opener {
	type content struct {
		outcome.Key
		outcome.Digest // a flaky part has several contents
	}
	kept, room := map[content][]byte{}, int64(rememberedMax)
	return func(p outcome.Part) (io.ReadCloser, error) {
		one := content{p.Key, p.Digest}
		if b, known := kept[one]; known {
			return newMemoryReader(b), nil
		}
		if p.Size > room {
			return open(p)
		}
		b, err := ReadAll(open, p)
		if err != nil {
			return nil, err
		}
		kept[one] = b
		room -= int64(len(b))
		return newMemoryReader(b), nil
	}
}

// A Side is one outcome of a case with its contents. Only one goroutine may use it at a time.
type Side struct {
	Outcome *outcome.Outcome
	Open    Opener

	again    Opener                       // what Open was before Cached; nil = Open
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
	return Side{Outcome: o, Open: open, patterns: map[patternKey]*hole.Pattern{}}
}

// KeptSide returns the side of a candidate. o joins several runs, and only the run whose contents
// were kept was compared.
func KeptSide(o *outcome.Outcome, open Opener) Side { return Side{Outcome: o.Kept(), Open: open} }

// Cached returns a side that reads as Cache does.
func (s Side) Cached() Side {
	s.again, s.Open = s.Open, Cache(s.Open)
	return s
}

// Afresh returns a side that holds no contents, for a reader that may come much later, or never.
func (s Side) Afresh() Side {
	if s.again != nil {
		s.Open = s.again
	}
	return Side{Outcome: s.Outcome, Open: s.Open}
}

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
	for _, p := range o.Parts {
		if p.Flaky {
			names = append(names, outcome.PartName(p.Key))
		}
	}
	return names
}

// IgnoreList matches the parts that --ignore names. They are never compared, and no store keeps their
// contents: an outcome has them as parts of the form outcome.Ignored. It never changes after
// ParseIgnore, so any number of goroutines may use it.
type IgnoreList []*partglob.Pattern

// ParseIgnore compiles the patterns of --ignore. Its error is of class fault.Input.
func ParseIgnore(globs []string) (IgnoreList, error) {
	list := make(IgnoreList, 0, len(globs))
	for _, text := range globs {
		p, err := partglob.Compile(text)
		if err != nil {
			return nil, fault.Inputf("--ignore %q: %w", text, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Match reports whether a part is ignored.
func (list IgnoreList) Match(k outcome.Key) bool {
	return slices.ContainsFunc(list, func(p *partglob.Pattern) bool { return p.Match(k) })
}

// IgnoredParts names the parts of an outcome that are ignored, by outcome.PartName, sorted.
func IgnoredParts(o *outcome.Outcome) (names []string) {
	for _, k := range o.IgnoredParts() {
		names = append(names, outcome.PartName(k))
	}
	return names
}

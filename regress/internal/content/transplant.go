package content

import (
	"bytes"
	"io"
	"slices"

	"muster/regress/internal/hole"
	"muster/regress/internal/outcome"
)

// KeepHoles carries the holes of a golden outcome over to the outcome o that replaces it. Call it
// after outcome.KeepFlaky. Few runs of a changed tool need not show what varied before: a time in
// seconds, or the order of a list. The texts of the old tool would show it, but also what the
// change rewrote. So o gets its own text with the old contents of the holes that it fits. The
// returned opener also opens these texts.
func KeepHoles(o *outcome.Outcome, open Opener, old Side) (Opener, error) {
	made := map[outcome.Digest][]byte{}
	for i := range o.Parts {
		p := &o.Parts[i]
		was, known := old.Outcome.Part(p.Key)
		if !known || !was.Flaky || !p.Flaky || !p.Left() || p.Form != outcome.Regular || p.Size == 0 {
			continue
		}
		texts, err := transplanted(open, *p, old, was)
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(p.Variants), func(v outcome.Variant) bool { return isVariant(was, v.As(p.Key)) })
		p.Variants = own[:min(len(own), outcome.VariantsMax-1)]
		for _, text := range texts {
			v := outcome.Variant{Form: outcome.Regular, Exec: p.Exec, Size: int64(len(text)), Digest: outcome.Of(text)}
			if len(p.Variants) < outcome.VariantsMax && !slices.Contains(p.Variants, v) {
				p.Variants = append(p.Variants, v)
				made[v.Digest] = text
			}
		}
	}
	return func(p outcome.Part) (io.ReadCloser, error) {
		if text, known := made[p.Digest]; known {
			return newMemoryReader(text), nil
		}
		return open(p)
	}, nil
}

// transplanted returns the text of a part with the contents of the holes of each text that was has.
// It returns none if was varies as a whole, or if the part fits no hole.
func transplanted(open Opener, p outcome.Part, old Side, was outcome.Part) (list [][]byte, err error) {
	now, err := ReadAll(open, p)
	if err != nil {
		return nil, err
	}
	var texts [][]byte
	for _, v := range variants(was) {
		if v.Form != outcome.Regular || v.Size == 0 {
			continue
		}
		text, err := ReadAll(old.Open, v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	for k := range texts {
		texts[0], texts[k] = texts[k], texts[0]
		if text := hole.Find(texts...).Transplant(now); !bytes.Equal(text, now) {
			list = append(list, text)
		}
	}
	return list, nil
}

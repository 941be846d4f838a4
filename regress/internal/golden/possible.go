package golden

import (
	"errors"
	"fmt"
	"slices"

	"muster/regress"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// checkRecord refuses a record that no run can produce. Writers and readers both call it, so every
// written record can be read.
func checkRecord(r *Record) error {
	if r.Equal < 0 || r.Origin < 0 {
		return errors.New("a negative count")
	}
	o := &r.Outcome
	if err := checkEndings(o); err != nil {
		return err
	}
	for i := range o.Parts {
		p := &o.Parts[i]
		if i > 0 && !before(o.Parts[i-1].Key, p.Key) {
			return fmt.Errorf("%s is a duplicate or out of order", name.Print(p.String()))
		}
		if err := checkPart(p); err != nil {
			return fmt.Errorf("%s: %w", name.Print(p.String()), err)
		}
	}
	return nil
}

func checkEndings(o *outcome.Outcome) error {
	if o.Ending.Kind > regress.OutputLimit {
		return fmt.Errorf("unknown ending %d", uint8(o.Ending.Kind))
	}
	for i, e := range o.Others {
		switch {
		case e.Kind > regress.OutputLimit:
			return fmt.Errorf("unknown ending %d", uint8(e.Kind))
		case e == o.Ending || i > 0 && outcome.CompareEndings(o.Others[i-1], e) >= 0:
			return fmt.Errorf("ending %q is a duplicate or out of order", e)
		case o.Ending.Partial() && !e.Partial():
			return errors.New("a run that hit a limit replaced one that ended by itself")
		}
	}
	return nil
}

func before(a, b outcome.Key) bool {
	return a.Place < b.Place || a.Place == b.Place && a.Path < b.Path
}

func checkPart(p *outcome.Part) error {
	stream := p.Place != outcome.File
	switch {
	case p.Place > outcome.File || p.Form > outcome.Ignored:
		return errors.New("a part is neither a stream nor a file")
	case stream != (p.Path == ""):
		return errors.New("a stream has a path, or a file has none")
	case p.Form >= outcome.Gone && (p.Digest != outcome.Digest{} || p.Size != 0):
		return errors.New("a part that is gone or ignored has content")
	case p.Form == outcome.Ignored && p.Flaky:
		return errors.New("an ignored part is flaky")
	case p.Flaky != (p.Seen != 0) || p.Seen&^outcome.AllShapes != 0:
		return errors.New("the shapes of a part do not fit: only a flaky part has them")
	case len(p.Variants) > outcome.VariantsMax || len(p.Variants) > 0 && !p.Flaky:
		return fmt.Errorf("the variants of a part do not fit: only a flaky part has them, and at most %d", outcome.VariantsMax)
	case slices.ContainsFunc(p.Variants, func(v outcome.Variant) bool { return v.Form >= outcome.Gone }):
		return errors.New("a variant has content")
	}
	for _, v := range p.Variants {
		if err := checkContent(stream, v); err != nil {
			return err
		}
	}
	return checkContent(stream && p.Form != outcome.Ignored, outcome.Variant{Form: p.Form, Exec: p.Exec, Size: p.Size})
}

// checkContent checks the common fields of a part and a variant.
func checkContent(stream bool, v outcome.Variant) error {
	switch {
	case stream && (v.Form != outcome.Regular || v.Exec):
		return errors.New("a stream is not a regular file")
	case v.Exec && v.Form != outcome.Regular:
		return errors.New("a part other than a regular file is executable")
	case v.Size < 0:
		return errors.New("a size is negative")
	}
	return nil
}

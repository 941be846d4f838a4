package report

import (
	"fmt"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/internal/diff"
	"muster/regress/internal/outcome"
	"muster/regress/internal/palette"
)

// A Side is one of the two outcomes of a comparison.
type Side struct {
	Ending regress.Ending
	// Content reads the content of a part of this side.
	Content func(outcome.Part) ([]byte, error)
}

// A case with more differing parts than this is described by its first ones.
const partsMax = 8

// Differences describes a comparison for an event, the ending first. more is the number of
// differing parts that it leaves out.
func Differences(c outcome.Comparison, old, now Side, l diff.Limits) (list []Difference, more int, err error) {
	if c.EndingDiffers {
		list = append(list, Difference{Part: outcome.EndingPart, Old: old.Ending.String(), Now: now.Ending.String()})
	}
	for i, p := range c.Parts {
		if i == partsMax {
			return list, len(c.Parts) - i, nil
		}
		d, err := describe(p, old, now, l)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", readable.Line(d.Part), err)
		}
		list = append(list, d)
	}
	return list, 0, nil
}

func describe(p outcome.Difference, old, now Side, l diff.Limits) (Difference, error) {
	d := Difference{Part: outcome.PartName(p.Key)}
	var err error
	if d.Old, err = old.Words(p.Old); err != nil {
		return d, err
	}
	if d.Now, err = now.Words(p.Now); err != nil {
		return d, err
	}
	if p.Old == nil || p.Now == nil || p.Old.Form != outcome.Regular || p.Now.Form != outcome.Regular {
		return d, nil
	}
	oldContent, err := old.Content(*p.Old)
	if err != nil {
		return d, err
	}
	nowContent, err := now.Content(*p.Now)
	if err != nil {
		return d, err
	}
	d.Diff, d.Hidden, d.Binary = diff.Unified(oldContent, nowContent, l)
	return d, nil
}

// Words describes a part of this side in a few words. A nil part is absent.
func (side Side) Words(p *outcome.Part) (string, error) {
	switch {
	case p == nil:
		return "absent", nil
	case p.Form == outcome.Gone:
		return "removed", nil
	case p.Form == outcome.Ignored:
		return "ignored", nil
	case p.Form == outcome.Symlink:
		target, err := side.Content(*p)
		return "link to " + readable.Line(string(target)), err
	case p.Place != outcome.File && p.Size == 0:
		return "empty", nil
	case p.Place != outcome.File:
		return readable.Count(p.Size, "byte"), nil
	case p.Exec:
		return "executable file of " + readable.Count(p.Size, "byte"), nil
	}
	return "file of " + readable.Count(p.Size, "byte"), nil
}

// paintDiffLine colours one line of a diff, without its newline, if p is true.
func paintDiffLine(p palette.Painter, line string) string {
	if !p {
		return line
	}
	return diff.Colour(line)
}

func colourOf(v regress.Verdict) palette.Style {
	switch v {
	case regress.Identical:
		return palette.Green
	case regress.Changed:
		return palette.Yellow
	case regress.Flaky, regress.DifferedOnce:
		return palette.Purple
	case regress.New, regress.Missing, regress.NewlyPassing:
		return palette.Cyan
	}
	return palette.Red
}

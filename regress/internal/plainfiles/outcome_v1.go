package plainfiles

import (
	"errors"

	"muster/regress"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// caseV1 is outcome.json of format 1. It marks flaky parts, without their shapes.
type caseV1 struct {
	Name   string     `json:"name"`
	Ending endingV1   `json:"ending"`
	Parts  []partJSON `json:"parts,omitempty"` // empty for a stopped case
}

// endingV1 has kind and code, or the mark of a flaky ending, with or without parts. Cut reports
// that a limit ended another run.
type endingV1 struct {
	Flaky   bool                `json:"flaky,omitempty"`
	Partial bool                `json:"partial,omitempty"`
	Kind    *regress.EndingKind `json:"kind,omitempty"`
	Code    *int                `json:"code,omitempty"`
	Cut     bool                `json:"cut,omitempty"`
}

// record converts the case to a record of today.
func (c caseV1) record() (r golden.Record, err error) {
	if r.Name, err = name.Parse(c.Name); err != nil {
		return r, err
	}
	o := &r.Outcome
	if err := c.Ending.setEnding(o); err != nil {
		return r, err
	}
	if o.Ending.Partial() && (c.Ending.Cut || len(c.Parts) > 0) {
		return r, errStopped
	}
	for _, j := range c.Parts {
		p, err := j.part()
		if err == nil && j.Seen != nil {
			err = errors.New("format 1 has no shapes")
		}
		if err != nil {
			return r, err
		}
		if p.Flaky {
			p.Seen = seenV1(p)
		}
		o.Parts = append(o.Parts, p)
	}
	o.Sort()
	return r, nil
}

// setEnding sets the endings of an outcome. A flaky ending covers exit statuses and no signal. A limit
// that ended a run may have been any limit.
func (e endingV1) setEnding(o *outcome.Outcome) error {
	switch {
	case e.Flaky == (e.Kind != nil) || e.Flaky == (e.Code != nil) || e.Partial && !e.Flaky:
		return errors.New("the ending has kind and code, or is flaky")
	case !e.Flaky:
		o.Ending = regress.Ending{Kind: *e.Kind, Code: *e.Code}
	case e.Partial:
		o.Ending.Kind = regress.TimedOut // or another limit
	}
	o.AnyExit = e.Flaky
	if e.Cut {
		o.Others = []regress.Ending{{Kind: regress.TimedOut}, {Kind: regress.OutOfMemory}, {Kind: regress.OutputLimit}}
	}
	return nil
}

// seenV1 returns the shapes that a flaky part may have had. A stream or a file was not empty.
// The name of a file may vary, so the file may also have been absent.
func seenV1(p outcome.Part) outcome.Shapes {
	if p.Place != outcome.File {
		return outcome.ShapesOf(outcome.Filled)
	}
	return outcome.AllShapes &^ outcome.ShapesOf(outcome.Empty, outcome.EmptyExec)
}

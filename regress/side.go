package regress

import (
	"muster/regress/internal/diff"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// side is one outcome with its contents.
type side struct {
	outcome *outcome.Outcome
	open    opener
}

// candidateSide returns the kept run of the runs joined in o: only that run was compared.
func candidateSide(o *outcome.Outcome, open opener) side { return side{o.Kept(), open} }

// differences describes a comparison for reports, bounded, with the contents
// as they were compared.
func differences(rules normalize.Rules, old, now side, c outcome.Comparison) (list []report.Difference, more int, err error) {
	return report.Differences(c, old.shown(rules), now.shown(rules), diff.Limits{})
}

func (s side) shown(rules normalize.Rules) report.Side {
	return report.Side{
		Ending:  s.outcome.Ending,
		Content: func(p outcome.Part) ([]byte, error) { return shown(rules, s.open, &p) },
	}
}

// words says what a part is, with its raw content.
func (s side) words(p *outcome.Part) (string, error) { return s.shown(nil).Words(p) }

// shown returns a part's content as it was compared; none for no part.
func shown(rules normalize.Rules, open opener, p *outcome.Part) ([]byte, error) {
	if p == nil || p.Form == outcome.Gone || p.Form == outcome.Ignored {
		return nil, nil
	}
	b, err := readAll(open, *p)
	if err != nil || p.Form != outcome.Regular {
		return b, err
	}
	return rules.Apply(p.Key, b), nil
}

// flakyParts names the parts of an outcome that are known to be flaky.
func flakyParts(o *outcome.Outcome) []string {
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

// maskedParts names the parts of a golden outcome that are not compared: flaky parts, and all
// parts of a case that a limit ended. It leaves out ignored ones.
func maskedParts(o *outcome.Outcome) (names []string) {
	if !o.Ending.Partial() {
		return flakyParts(o)
	}
	for _, p := range o.Parts {
		if p.Form != outcome.Ignored {
			names = append(names, outcome.PartName(p.Key))
		}
	}
	return names
}

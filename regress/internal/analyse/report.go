package analyse

import (
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// Differences describes a comparison for reports, bounded, with rewritten contents.
func Differences(rules normalize.Rules, old, now content.Side, c outcome.Comparison) (list []report.Difference, more int, err error) {
	a, b := reportSide(rules, old), reportSide(rules, now)
	a.Content = func(p outcome.Part) ([]byte, error) {
		text, _, err := content.Texts(rules, old, now, &p, partOf(now, p.Key))
		return text, err
	}
	b.Content = func(p outcome.Part) ([]byte, error) {
		_, text, err := content.Texts(rules, old, now, partOf(old, p.Key), &p)
		return text, err
	}
	return report.Differences(c, a, b, diff.Limits{})
}

// reportSide returns a side in the form of reports, with rewritten contents.
func reportSide(rules normalize.Rules, s content.Side) report.Side {
	return report.Side{
		Ending:  s.Outcome.Ending,
		Content: func(p outcome.Part) ([]byte, error) { return content.Shown(rules, s.Open, &p) },
	}
}

// PartWords describes a part in a few words, by its raw content.
func PartWords(s content.Side, p *outcome.Part) (string, error) { return reportSide(nil, s).Words(p) }

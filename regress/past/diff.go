package past

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/place"
	"muster/regress/internal/plan"
	"muster/regress/internal/report"
	"muster/regress/internal/run"
)

// Diff compares two goldens. It reports as check.Run does, with the old one as the golden.
func Diff(ctx context.Context, o regress.Options, h host.Host, oldPath, newPath string) (sum regress.Summary, err error) {
	old, err := place.Open(ctx, oldPath, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return sum, place.ExplainMissing(oldPath, err)
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	now, err := place.Open(ctx, newPath, place.NewOptions(o.Store.State, h.Files))
	if err != nil {
		return sum, place.ExplainMissing(newPath, err)
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	other := completeRules(&o, old.Meta(), now.Meta())
	j, err := job.Resolve(o, nil, job.DiffCommand)
	if err != nil {
		return sum, err
	}
	s, err := run.New(j, h)
	if err != nil {
		return sum, err
	}
	if err := run.OpenReporters(s); err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, rule := range other {
		was, is := old.Meta().Flags[rule.Name()], now.Meta().Flags[rule.Name()]
		s.Events.Warn(fmt.Sprintf("%s was recorded with %s, %s with %s: the first counts", oldPath, rule.Worded(was), newPath, rule.Worded(is)))
	}
	began := report.Started{Command: s.Job.Name, Tool: newPath, Against: oldPath, At: s.Began, Allowed: job.ParseAllowed(&s.Job.Options)}
	return diffGoldens(ctx, s, old.Store, now.Store, began)
}

// completeRules fills in how parts are compared, where it was not given, from a golden. It
// returns the settings that the other golden has otherwise.
func completeRules(o *regress.Options, old, now golden.Meta) (other []job.Setting) {
	for _, s := range job.OutcomeSettings() {
		if s.Scope != job.OfVerdict || s.IsGiven(o) {
			continue
		}
		s.Complete(o, old.Flags[s.Name()])
		if old.Flags[s.Name()] != now.Flags[s.Name()] {
			other = append(other, s)
		}
	}
	return other
}

// diffGoldens reports every selected case of two goldens, and the causes of all differences.
func diffGoldens(ctx context.Context, s *run.Run, old, now *golden.Store, began report.Started) (regress.Summary, error) {
	names := selectNames(s.Job.Chooser, old, now)
	if len(names) == 0 {
		return s.Ledger.Summary, fault.Emptyf("none of the cases of the two goldens is selected")
	}
	began.Cases = len(names)
	s.Events.Emit(began)
	for i, caseName := range names {
		if err := ctx.Err(); err != nil {
			return s.Ledger.Summary, err
		}
		word, err := diffCase(s, old, now, caseName)
		if err != nil {
			return s.Ledger.Summary, fmt.Errorf("%s: %w", name.Print(caseName), err)
		}
		word.Name, word.Index = caseName, i
		s.Ledger.Verdict(word)
	}
	s.Ledger.Absent = len(names)
	err := s.Finish(s.ReportGroups(func(name string) (was, is content.Side, err error) {
		was, is, err = analyse.StoredSides(old, now, name)
		if err == nil {
			was.Outcome.Ignore(s.Job.Ignored.Match)
			is.Outcome.Ignore(s.Job.Ignored.Match)
		}
		return was, is, err
	}))
	return s.Ledger.Summary, err
}

// selectNames returns the selected names of both, sorted.
func selectNames(chooser *plan.Chooser, old, now *golden.Store) []string {
	var names []string
	a, b := slices.Sorted(old.Names()), slices.Sorted(now.Names())
	for len(a) > 0 || len(b) > 0 {
		var next string
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			next, a = a[0], a[1:]
		case len(a) == 0 || b[0] < a[0]:
			next, b = b[0], b[1:]
		default:
			next, a, b = a[0], a[1:], b[1:]
		}
		names = append(names, next)
	}
	chosen := chooser.Choose(names, plan.Baseline{}).Run
	for i, at := range chosen {
		names[i] = names[at]
	}
	return names[:len(chosen)]
}

// diffCase compares the outcomes of a case in two goldens.
func diffCase(s *run.Run, old, now *golden.Store, caseName string) (word report.Case, err error) {
	a, inOld, err := old.Get(caseName)
	if err != nil {
		return word, err
	}
	b, inNow, err := now.Get(caseName)
	if err != nil {
		return word, err
	}
	switch {
	case !inOld:
		return report.Case{Verdict: regress.New, Ending: &b.Outcome.Ending, Cost: b.Cost}, nil
	case !inNow:
		return report.Case{Verdict: regress.Missing, GoldenEnding: &a.Outcome.Ending}, nil
	}
	a.Outcome.Ignore(s.Job.Ignored.Match)
	b.Outcome.Ignore(s.Job.Ignored.Match)
	b.Outcome.Settle(&a.Outcome)
	was, is := content.Side{Outcome: &a.Outcome, Open: content.Cache(old.Content)}, content.Side{Outcome: &b.Outcome, Open: content.Cache(now.Content)}
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(s.Job.Rules, was, is))
	if err != nil {
		return word, err
	}
	word = report.Case{
		Verdict: outcome.Judge(was.Outcome, is.Outcome, c), Ending: &b.Outcome.Ending, GoldenEnding: &a.Outcome.Ending,
		Cost: b.Cost, Flaky: content.FlakyParts(is.Outcome),
	}
	// as in a check: known flaky parts are left out, and newly flaky ones are named
	known, ignored := content.FlakyParts(was.Outcome), content.Union(content.IgnoredParts(was.Outcome), content.IgnoredParts(is.Outcome))
	newly := slices.DeleteFunc(slices.Clone(word.Flaky), func(part string) bool {
		return slices.Contains(known, part) || slices.Contains(ignored, part)
	})
	switch {
	case word.Verdict == regress.Identical && len(newly) > 0:
		word.Verdict, word.Flaky = regress.Flaky, newly
	case len(word.Flaky) == 0:
		word.Flaky = known
	}
	left, err := content.VaryingIn(s.Job.Rules, was)
	if err != nil {
		return word, err
	}
	left.Masked = slices.Concat(newly, left.Masked)
	left = left.Plus(ignored)
	word.Masked, word.Ignored, word.Holes = left.Masked, left.Ignored, left.Holes
	if err := s.Differences.Add(caseName, 0, word.Verdict, was, is, c); err != nil {
		return word, err
	}
	word.Differences, word.More, err = analyse.Differences(s.Job.Rules, was, is, c)
	return word, err
}

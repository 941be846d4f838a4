package analyse

import (
	"slices"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// An Explanation holds the known causes that two outcomes of a case show.
type Explanation struct {
	Verdict regress.Verdict
	Causes  []int // indexes of the causes that show, ascending
	All     bool  // every edit belongs to one of these causes
}

// Explain compares two outcomes of a case under rules, and returns the causes of an index that they
// show. size is the size of the source. Several goroutines may call it.
func Explain(rules normalize.Rules, index *cause.Index, caseName string, size int64, was, is content.Side) (t Explanation, err error) {
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(rules, was, is))
	if err != nil {
		return t, err
	}
	if t.Verdict = outcome.Judge(was.Outcome, is.Outcome, c); !hasCauses(t.Verdict) {
		return t, nil
	}
	d, err := describe(rules, caseName, size, t.Verdict, was, is, c)
	if err == nil {
		t.Causes, t.All = index.Explain(d)
	}
	return t, err
}

// ContainsAll reports whether list contains all of some.
func ContainsAll(list, some []int) bool {
	return !slices.ContainsFunc(some, func(i int) bool { return !slices.Contains(list, i) })
}

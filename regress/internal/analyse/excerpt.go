package analyse

import (
	"fmt"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
)

// An Excerpter returns the text of an edit: diff.Excerpt or diff.ExcerptMarked.
type Excerpter func(old, now []byte, edits []diff.Edit, at int) string

// Excerpt returns the text of the first edit of a cause in a case. Without an edit, it returns
// in words how the case differs.
func Excerpt(f *cause.Found, index int, caseName string, rules normalize.Rules, sides SidesOf, show Excerpter) (string, error) {
	m, known := f.Member(caseName)
	if !known {
		return "", nil
	}
	was, is, err := sides(m.Name)
	if err != nil {
		return "", err
	}
	c := f.Causes[index]
	if IsEnding(c.Kind) {
		return endingInWords(rules, was, is)
	}
	for _, p := range m.Parts {
		at := slices.IndexFunc(p.Edits, func(e cause.Attributed) bool { return e.Cause == index })
		if at < 0 {
			continue
		}
		old, now, err := rewrittenTexts(rules, p.Key, was, is)
		if err != nil {
			return "", err
		}
		return show(old, now, editsOf(f, p, index), at), nil
	}
	return describeInWords(rules, c, was, is)
}

// editsOf returns the edits of a part. Edits of other causes have the IDs of those.
func editsOf(f *cause.Found, p cause.PartEdits, index int) []diff.Edit {
	edits := make([]diff.Edit, len(p.Edits))
	for i, e := range p.Edits {
		edits[i].Change = changeOf(e)
		if e.Cause != index {
			edits[i].By = f.Causes[e.Cause].ID
		}
	}
	return edits
}

func changeOf(e cause.Attributed) diff.Change {
	return diff.Change{OldFrom: e.Old.From, OldTo: e.Old.To, NowFrom: e.Now.From, NowTo: e.Now.To}
}

// IsEnding reports whether causes of a kind are about endings.
func IsEnding(k cause.Kind) bool {
	return k == cause.Failing || k == cause.Passing || k == cause.Ended
}

// endingLinesMax bounds the lines of endingText in an excerpt.
const endingLinesMax = 8

// endingInWords returns both endings of a case, and the first lines of endingText.
func endingInWords(rules normalize.Rules, was, is content.Side) (string, error) {
	text, err := endingText(rules, is)
	if err != nil {
		return "", err
	}
	lines, _, _ := diff.Unified(nil, text, diff.Limits{Lines: endingLinesMax + 1})
	_, lines, _ = strings.Cut(lines, "\n") // its heading
	return fmt.Sprintf("ending: %s → %s\n%s", was.Outcome.Ending, is.Outcome.Ending, lines), nil
}

// describeInWords describes how a case differs by a cause that has no edit of a text there.
func describeInWords(rules normalize.Rules, of cause.Cause, was, is content.Side) (string, error) {
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(rules, was, is))
	if err != nil || len(c.Parts) == 0 {
		return "", err
	}
	d, err := partThatShows(rules, of, was, is, c)
	if err != nil {
		return "", err
	}
	old, err := PartWords(was, d.Old)
	if err != nil {
		return "", err
	}
	now, err := PartWords(is, d.Now)
	return fmt.Sprintf("%s: %s → %s\n", name.Print(outcome.PartName(d.Key)), old, now), err
}

// partThatShows returns the first part in which a case shows a cause, or else the first part. It
// does not compare a single part again: it may have 50 MB, for each of its causes.
func partThatShows(rules normalize.Rules, of cause.Cause, was, is content.Side, c outcome.Comparison) (outcome.Difference, error) {
	if len(c.Parts) == 1 {
		return c.Parts[0], nil
	}
	index := cause.NewIndex([]cause.Cause{of})
	for _, d := range c.Parts {
		one, err := describe(rules, "", 0, regress.Changed, was, is, outcome.Comparison{Parts: []outcome.Difference{d}})
		if err != nil {
			return d, err
		}
		if len(index.Shows(one)) > 0 {
			return d, nil
		}
	}
	return c.Parts[0], nil
}

// rewrittenTexts returns a part of both sides after the rewrites.
func rewrittenTexts(rules normalize.Rules, k outcome.Key, was, is content.Side) (old, now []byte, err error) {
	return content.Texts(rules, was, is, partOf(was, k), partOf(is, k))
}

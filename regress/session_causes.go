package regress

import (
	"fmt"
	"slices"
	"strings"

	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// differing describes a case that differs to package cause, with the contents as they
// were compared. size is that of its source.
func differing(rules normalize.Rules, caseName string, size int64, v outcome.Verdict, was, is content.Side, c outcome.Comparison) (d cause.Case, err error) {
	d = cause.Case{Name: caseName, Size: size, Verdict: v, Old: was.Outcome.Ending, Now: is.Outcome.Ending}
	for _, p := range c.Parts {
		part := cause.Part{Key: p.Key, Old: p.Old, Now: p.Now}
		if part.OldText, err = content.Shown(rules, was.Open, p.Old); err != nil {
			return d, err
		}
		if part.NowText, err = content.Shown(rules, is.Open, p.Now); err != nil {
			return d, err
		}
		d.Parts = append(d.Parts, part)
	}
	if !c.EndingDiffers {
		d.Now = d.Old // where several are known, they may be unlike
		return d, nil
	}
	if d.OldSaid, err = said(rules, was); err != nil {
		return d, err
	}
	d.NowSaid, err = said(rules, is)
	return d, err
}

// said returns what a tool said of how it ended.
func said(rules normalize.Rules, s content.Side) ([]byte, error) {
	for _, place := range []outcome.Place{outcome.Stderr, outcome.Stdout} {
		p, known := s.Outcome.Part(outcome.Key{Place: place})
		if known && p.Size > 0 {
			return content.Shown(rules, s.Open, &p)
		}
	}
	return nil, nil
}

// differ tells the analysis of a case that has a verdict.
func (s *session) differ(caseName string, size int64, v outcome.Verdict, was, is content.Side, c outcome.Comparison) error {
	if !hasCauses(v) {
		return nil
	}
	d, err := differing(s.rules, caseName, size, v, was, is, c)
	if err == nil {
		s.leaks.look(d)
		s.differences.Add(d)
	}
	return err
}

// hasCauses reports whether cases of a verdict have causes: those that differ.
func hasCauses(v outcome.Verdict) bool {
	switch v {
	case outcome.Environment, outcome.Flaky, outcome.New, outcome.Missing, outcome.Identical:
		return false
	}
	return true
}

// told is what the difference between two outcomes of a case tells.
type told struct {
	verdict outcome.Verdict
	causes  []int // those that it shows, as indexes, ascending
	all     bool  // there is no edit but of those
}

// tell compares two outcomes of a case, and looks which of the causes in an index that shows.
// size is that of its source. Several goroutines may call it.
func (s *session) tell(index *cause.Index, caseName string, size int64, was, is content.Side) (t told, err error) {
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(s.rules, was.Open, is.Open))
	if err != nil {
		return t, err
	}
	if t.verdict = outcome.Judge(was.Outcome, is.Outcome, c); !hasCauses(t.verdict) {
		return t, nil
	}
	d, err := differing(s.rules, caseName, size, t.verdict, was, is, c)
	if err == nil {
		t.causes, t.all = index.Explain(d)
	}
	return t, err
}

// excerptsMax is of how many causes an edit is shown; the rest have their names.
const excerptsMax = 500

// lookup returns both sides of a case that differed.
type lookup func(caseName string) (was, is content.Side, err error)

// pastSides returns both sides of a case that differed in a past run.
func pastSides(base, found *golden.Store, caseName string) (was, is content.Side, err error) {
	was, is, err = sidesIn(base, found, caseName)
	return was, content.KeptSide(is.Outcome, is.Open), err
}

// sidesIn returns both sides of a case that two stores have.
func sidesIn(old, now *golden.Store, caseName string) (was, is content.Side, err error) {
	a, _, err := old.Get(caseName)
	if err != nil {
		return was, is, err
	}
	b, _, err := now.Get(caseName)
	b.Outcome.Settle(&a.Outcome)
	return content.Side{Outcome: &a.Outcome, Open: content.Remembering(old.Content)}, content.Side{Outcome: &b.Outcome, Open: content.Remembering(now.Content)}, err
}

// sides returns both sides of a case that differed.
func (c *checking) sides(caseName string) (was, is content.Side, err error) {
	old, _, err := c.base.get(caseName)
	if err != nil {
		return was, is, err
	}
	rec, _, err := c.found.get(caseName)
	return content.Side{Outcome: &old.Outcome, Open: content.Remembering(c.base.content)}, content.KeptSide(&rec.Outcome, content.Remembering(c.found.content)), err
}

// groups finds the causes of the differences that the session was told of, emits them,
// and keeps them with the run.
func (s *session) groups(sides lookup) error {
	found := printable(s.differences.Causes())
	s.summary.Groups = len(found.Causes)
	members := membersOf(found)
	for i, c := range found.Causes {
		g := report.Group{Cause: c, Members: members[i]}
		if i < excerptsMax {
			var err error
			if g.Excerpt, err = excerptIn(found, i, c.Example, s.rules, sides, diff.Excerpt); err != nil {
				return err
			}
		}
		s.emit(g)
	}
	if s.run == nil {
		return nil
	}
	encoded, err := found.Encode()
	if err != nil {
		return err
	}
	return s.run.SaveCauses(encoded)
}

// membersOf lists the names of the cases of each cause.
func membersOf(f *cause.Found) [][]string {
	members := make([][]string, len(f.Causes))
	for _, m := range f.Members {
		for _, i := range m.Causes {
			members[i] = append(members[i], m.Name)
		}
	}
	return members
}

// An excerpter shows an edit: diff.Excerpt or diff.ExcerptMarked.
type excerpter func(old, now []byte, edits []diff.Edit, at int) string

// excerptIn shows the first edit of a cause in a case, or in words how that case differs.
func excerptIn(f *cause.Found, index int, caseName string, rules normalize.Rules, sides lookup, show excerpter) (string, error) {
	m, known := f.Member(caseName)
	if !known {
		return "", nil
	}
	was, is, err := sides(m.Name)
	if err != nil {
		return "", err
	}
	c := f.Causes[index]
	if isEnding(c.Kind) {
		return endingInWords(rules, was, is)
	}
	for _, p := range m.Parts {
		at := slices.IndexFunc(p.Edits, func(e cause.Attributed) bool { return e.Cause == index })
		if at < 0 {
			continue
		}
		old, now, err := texts(rules, p.Key, was, is)
		if err != nil {
			return "", err
		}
		return show(old, now, editsOf(f, p, index), at), nil
	}
	return inWords(rules, c, was, is)
}

// editsOf returns the edits of a part, with the IDs of the causes that the others have.
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

// isEnding reports whether causes of a kind are about how a case ended.
func isEnding(k cause.Kind) bool {
	return k == cause.Failing || k == cause.Passing || k == cause.Ended
}

// saidLinesMax bounds what is shown of what a tool said of how it ended.
const saidLinesMax = 8

// endingInWords says how a case ended otherwise.
func endingInWords(rules normalize.Rules, was, is content.Side) (string, error) {
	text, err := said(rules, is)
	if err != nil {
		return "", err
	}
	lines, _, _ := diff.Unified(nil, text, diff.Limits{Lines: saidLinesMax + 1})
	_, lines, _ = strings.Cut(lines, "\n") // its heading
	return fmt.Sprintf("ending: %s → %s\n%s", was.Outcome.Ending, is.Outcome.Ending, lines), nil
}

// inWords says how a case differs by a cause of which it has no edit of a text.
func inWords(rules normalize.Rules, of cause.Cause, was, is content.Side) (string, error) {
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(rules, was.Open, is.Open))
	if err != nil || len(c.Parts) == 0 {
		return "", err
	}
	d, err := partThatShows(rules, of, was, is, c)
	if err != nil {
		return "", err
	}
	old, err := partWords(was, d.Old)
	if err != nil {
		return "", err
	}
	now, err := partWords(is, d.Now)
	return fmt.Sprintf("%s: %s → %s\n", name.Print(outcome.PartName(d.Key)), old, now), err
}

// partThatShows returns the first part in which a case shows a cause, else the first. A part
// that is alone is not compared once more: there may be 50 MB of it, for each of its causes.
func partThatShows(rules normalize.Rules, of cause.Cause, was, is content.Side, c outcome.Comparison) (outcome.Difference, error) {
	if len(c.Parts) == 1 {
		return c.Parts[0], nil
	}
	index := cause.NewIndex([]cause.Cause{of})
	for _, d := range c.Parts {
		one, err := differing(rules, "", 0, outcome.Changed, was, is, outcome.Comparison{Parts: []outcome.Difference{d}})
		if err != nil {
			return d, err
		}
		if len(index.Shows(one)) > 0 {
			return d, nil
		}
	}
	return c.Parts[0], nil
}

// texts returns what both sides have of a part, as it was compared.
func texts(rules normalize.Rules, k outcome.Key, was, is content.Side) (old, now []byte, err error) {
	for _, s := range []struct {
		side content.Side
		text *[]byte
	}{{was, &old}, {is, &now}} {
		p, known := s.side.Outcome.Part(k)
		if !known {
			continue
		}
		if *s.text, err = content.Shown(rules, s.side.Open, &p); err != nil {
			return nil, nil, err
		}
	}
	return old, now, nil
}

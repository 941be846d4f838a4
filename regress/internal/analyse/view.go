package analyse

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/plaintext"
	"muster/regress/internal/report"
	"muster/regress/internal/review"
)

// View writes whole outcomes for people.
type View struct {
	W      io.Writer
	Rules  normalize.Rules
	Colour bool
	Edits  []cause.PartEdits // of the case, if they are known
}

// WriteDifferences writes every difference of two outcomes in full.
func (v View) WriteDifferences(old, now content.Side) error {
	c, err := outcome.Compare(old.Outcome, now.Outcome, content.SameUnder(v.Rules, old, now))
	if err != nil {
		return err
	}
	if c.EndingDiffers {
		fmt.Fprintf(v.W, "\nending: %s → %s\n", old.Outcome.Ending, now.Outcome.Ending)
	}
	for _, d := range c.Parts {
		if err := v.writeDifference(d, old, now); err != nil {
			return err
		}
	}
	return v.writePartial(now)
}

func (v View) writeDifference(d outcome.Difference, old, now content.Side) error {
	was, err := PartWords(old, d.Old)
	if err != nil {
		return err
	}
	is, err := PartWords(now, d.Now)
	if err != nil {
		return err
	}
	fmt.Fprintf(v.W, "\n%s: %s → %s\n", name.Print(outcome.PartName(d.Key)), was, is)
	if d.Old != nil && d.Now != nil && (d.Old.Digest == d.Now.Digest || d.Old.Form == outcome.Symlink && d.Now.Form == outcome.Symlink) {
		return nil // the words are complete
	}
	a, b, err := content.Texts(v.Rules, old, now, d.Old, d.Now)
	if err != nil {
		return err
	}
	if !v.Colour || !plaintext.Is(a) || !plaintext.Is(b) {
		return diff.Full(v.W, a, b, v.Colour)
	}
	return diff.FullMarked(v.W, a, b, v.marks(d.Key, a, b))
}

// marks returns the edits of a part to mark, as a review marks them.
func (v View) marks(key outcome.Key, old, now []byte) (changes []diff.Change) {
	p := review.Part{Old: old, Now: now}
	for _, e := range v.Edits {
		if e.Key == key {
			p.Edits = e.Edits
		}
	}
	edits, _ := review.Edits(p)
	for _, e := range edits {
		changes = append(changes, changeOf(e))
	}
	return changes
}

// WriteOutcome writes an outcome without a counterpart.
func (v View) WriteOutcome(now content.Side) error {
	fmt.Fprintf(v.W, "\nending: %s\n", now.Outcome.Ending)
	if now.Outcome.Ending.Partial() {
		return v.writePartial(now)
	}
	for _, p := range now.Outcome.Parts {
		if p.Size == 0 && p.Place != outcome.File || p.Form == outcome.Ignored {
			continue
		}
		if err := v.writeDifference(outcome.Difference{Key: p.Key, Now: &p}, now, now); err != nil {
			return err
		}
	}
	return nil
}

// WriteVarying names the parts that the golden masks, and those that differ between runs of the
// candidate. old is nil without a golden outcome.
func (v View) WriteVarying(old *content.Side, now *outcome.Outcome) error {
	if old != nil {
		left, err := content.UncomparedIn(v.Rules, *old)
		if err != nil {
			return err
		}
		v.WriteNames("not compared, the golden varies there", left.Masked)
		if text := report.HolesText(left.Holes); text != "" {
			fmt.Fprintf(v.W, "  %s\n", text)
		}
		v.WriteNames("not compared, as --ignore says", left.With(now).Ignored)
	}
	v.WriteNames("varies from run to run of the candidate", content.FlakyParts(now))
	return nil
}

// WriteNames writes the names of parts after a heading. It writes nothing for an empty list.
func (v View) WriteNames(what string, parts []string) {
	if len(parts) > 0 {
		fmt.Fprintf(v.W, "\n%s: %s\n", what, strings.Join(name.PrintAll(parts), ", "))
	}
}

// writePartial writes the output of a case that a limit ended. It is kept for people, and not compared.
func (v View) writePartial(now content.Side) error {
	if !now.Outcome.Ending.Partial() {
		return nil
	}
	fmt.Fprintf(v.W, "\nleft when it was ended, not compared:\n")
	for _, p := range now.Outcome.Parts {
		if p.Form == outcome.Ignored {
			continue
		}
		words, err := PartWords(now, &p)
		if err != nil {
			return err
		}
		fmt.Fprintf(v.W, "\n%s: %s\n", name.Print(outcome.PartName(p.Key)), words)
		content, err := content.Shown(nil, now.Open, &p)
		if err != nil {
			return err
		}
		text, hidden, _ := diff.Unified(nil, content, diff.Limits{Lines: partialLinesMax})
		fmt.Fprint(v.W, text)
		if hidden > 0 {
			fmt.Fprintf(v.W, "… %d more lines: muster run with --keep leaves them in files\n", hidden)
		}
	}
	return nil
}

// partialLinesMax bounds the lines shown of a part that a limit cut off. A tool that loops fills it
// with the same line.
const partialLinesMax = 200

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
	if isEnding(c.Kind) {
		isOther := func(e cause.Attributed) bool { return e.Cause != index }
		hasCauses := func(key outcome.Key) bool {
			return slices.ContainsFunc(m.Parts, func(p cause.PartEdits) bool { return p.Key == key && slices.ContainsFunc(p.Edits, isOther) })
		}
		return endingInWords(rules, was, is, hasCauses)
	}
	for _, p := range m.Parts {
		at := slices.IndexFunc(p.Edits, func(e cause.Attributed) bool { return e.Cause == index })
		if at < 0 {
			continue
		}
		old, now, err := content.Texts(rules, was, is, partOf(was, p.Key), partOf(is, p.Key))
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

// isEnding reports whether causes of a kind are about endings.
func isEnding(k cause.Kind) bool {
	return k == cause.Failing || k == cause.Passing || k == cause.Ended
}

// endingLinesMax bounds the lines of messages in an excerpt.
const endingLinesMax = 8

// endingInWords returns both endings of a case, and how the messages differ that the tool wrote where it failed. After
// a limit it shows the new messages alone, because they may be cut off. Then it names the other texts that differ.
// It leaves out parts whose differences have causes of their own.
func endingInWords(rules normalize.Rules, was, is content.Side, hasCauses func(outcome.Key) bool) (string, error) {
	failed := is
	if is.Outcome.Ending.Success() {
		failed = was
	}
	var old, now []byte
	var err error
	p := endingPart(failed)
	switch {
	case p == nil || hasCauses(p.Key):
	case is.Outcome.Ending.Partial():
		now, err = endingText(rules, is)
	default:
		old, now, err = content.Texts(rules, was, is, partOf(was, p.Key), partOf(is, p.Key))
	}
	if err != nil {
		return "", err
	}
	lines, _, _ := diff.Unified(old, now, diff.Limits{Lines: endingLinesMax + 1, Context: 1})
	_, lines, _ = strings.Cut(lines, "\n") // its heading
	text := fmt.Sprintf("ending: %s → %s\n%s", was.Outcome.Ending, is.Outcome.Ending, lines)
	if is.Outcome.Ending.Partial() {
		return text, nil
	}
	c, err := outcome.Compare(was.Outcome, is.Outcome, content.SameUnder(rules, was, is))
	if err != nil {
		return "", err
	}
	for _, d := range c.Parts {
		if d.Old == nil || d.Now == nil || d.Old.Size*d.Now.Size == 0 || p != nil && d.Key == p.Key || hasCauses(d.Key) {
			continue
		}
		words, err := inWords(d, was, is)
		if err != nil {
			return "", err
		}
		text += words
	}
	return text, nil
}

// inWords describes how a part differs.
func inWords(d outcome.Difference, was, is content.Side) (string, error) {
	old, err := PartWords(was, d.Old)
	if err != nil {
		return "", err
	}
	now, err := PartWords(is, d.Now)
	return fmt.Sprintf("%s: %s → %s\n", name.Print(outcome.PartName(d.Key)), old, now), err
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
	return inWords(d, was, is)
}

// partThatShows returns the first part in which a case shows a cause, or else the first part. It
// does not compare a single part again: it may have 50 MB, for each of its causes.
func partThatShows(rules normalize.Rules, of cause.Cause, was, is content.Side, c outcome.Comparison) (outcome.Difference, error) {
	if len(c.Parts) == 1 {
		return c.Parts[0], nil
	}
	index := cause.NewIndex([]cause.Cause{of})
	for _, d := range c.Parts {
		one, err := describe(rules, "", 0, was, is, outcome.Comparison{Parts: []outcome.Difference{d}})
		if err != nil {
			return d, err
		}
		if len(index.Shows(one)) > 0 {
			return d, nil
		}
	}
	return c.Parts[0], nil
}

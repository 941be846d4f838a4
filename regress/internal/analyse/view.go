package analyse

import (
	"fmt"
	"io"
	"strings"

	"muster/regress"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
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
	if !v.Colour || diff.Binary(a) || diff.Binary(b) {
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
		if left.Holes != (regress.Holes{}) {
			fmt.Fprintf(v.W, "  %s\n", report.HolesText(left.Holes))
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

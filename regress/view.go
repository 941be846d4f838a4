package regress

import (
	"fmt"
	"io"
	"strings"

	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/review"
)

// view writes outcomes whole, for people.
type view struct {
	w      io.Writer
	rules  normalize.Rules
	colour bool
	edits  []cause.PartEdits // of the case, if they are known
}

// both writes all in which two outcomes differ.
func (v view) both(old, now content.Side) error {
	c, err := outcome.Compare(old.Outcome, now.Outcome, content.SameUnder(v.rules, old.Open, now.Open))
	if err != nil {
		return err
	}
	if c.EndingDiffers {
		fmt.Fprintf(v.w, "\nending: %s → %s\n", old.Outcome.Ending, now.Outcome.Ending)
	}
	for _, d := range c.Parts {
		if err := v.difference(d, old, now); err != nil {
			return err
		}
	}
	return v.partial(now)
}

func (v view) difference(d outcome.Difference, old, now content.Side) error {
	was, err := partWords(old, d.Old)
	if err != nil {
		return err
	}
	is, err := partWords(now, d.Now)
	if err != nil {
		return err
	}
	fmt.Fprintf(v.w, "\n%s: %s → %s\n", name.Print(outcome.PartName(d.Key)), was, is)
	if d.Old != nil && d.Now != nil && (d.Old.Digest == d.Now.Digest || d.Old.Form == outcome.Symlink && d.Now.Form == outcome.Symlink) {
		return nil // the words say it all
	}
	a, err := content.Shown(v.rules, old.Open, d.Old)
	if err != nil {
		return err
	}
	b, err := content.Shown(v.rules, now.Open, d.Now)
	if err != nil {
		return err
	}
	if !v.colour || diff.Binary(a) || diff.Binary(b) {
		return diff.Full(v.w, a, b, v.colour)
	}
	return diff.FullMarked(v.w, a, b, v.marks(d.Key, a, b))
}

// marks returns the edits of a part that are marked: those that a review marks.
func (v view) marks(key outcome.Key, old, now []byte) (changes []diff.Change) {
	p := review.Part{Old: old, Now: now}
	for _, e := range v.edits {
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

func changeOf(e cause.Attributed) diff.Change {
	return diff.Change{OldFrom: e.Old.From, OldTo: e.Old.To, NowFrom: e.Now.From, NowTo: e.Now.To}
}

// one writes an outcome that there is nothing to compare with.
func (v view) one(now content.Side) error {
	fmt.Fprintf(v.w, "\nending: %s\n", now.Outcome.Ending)
	if now.Outcome.Ending.Partial() {
		return v.partial(now)
	}
	for _, p := range now.Outcome.Parts {
		if p.Size == 0 && p.Place != outcome.File || p.Form == outcome.Ignored {
			continue
		}
		if err := v.difference(outcome.Difference{Key: p.Key, Now: &p}, now, now); err != nil {
			return err
		}
	}
	return nil
}

// varies names the parts that the golden masks, and those in which the runs of the
// candidate differ from each other. old is nil where there is no golden outcome.
func (v view) varies(old, now *outcome.Outcome) {
	if old != nil {
		v.list("not compared, the golden varies there", content.MaskedParts(old))
		v.list("not compared, as --ignore says", content.Union(content.IgnoredParts(old), content.IgnoredParts(now)))
	}
	v.list("varies from run to run of the candidate", content.FlakyParts(now))
}

func (v view) list(what string, parts []string) {
	if len(parts) > 0 {
		fmt.Fprintf(v.w, "\n%s: %s\n", what, strings.Join(name.PrintAll(parts), ", "))
	}
}

// partialLinesMax bounds what is shown of a part that a limit cut off: a tool
// that loops fills it with the same line again and again.
const partialLinesMax = 200

// partial writes what a case left that was ended by a limit: it is kept for
// people, and not compared.
func (v view) partial(now content.Side) error {
	if !now.Outcome.Ending.Partial() {
		return nil
	}
	fmt.Fprintf(v.w, "\nleft when it was ended, not compared:\n")
	for _, p := range now.Outcome.Parts {
		if p.Form == outcome.Ignored {
			continue
		}
		words, err := partWords(now, &p)
		if err != nil {
			return err
		}
		fmt.Fprintf(v.w, "\n%s: %s\n", name.Print(outcome.PartName(p.Key)), words)
		content, err := content.Shown(nil, now.Open, &p)
		if err != nil {
			return err
		}
		text, hidden, _ := diff.Unified(nil, content, diff.Limits{Lines: partialLinesMax})
		fmt.Fprint(v.w, text)
		if hidden > 0 {
			fmt.Fprintf(v.w, "… %d more lines: muster run with --keep leaves them in files\n", hidden)
		}
	}
	return nil
}

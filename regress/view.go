package regress

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
)

// view writes outcomes whole, for people.
type view struct {
	w      io.Writer
	rules  normalize.Rules
	colour bool
}

// both writes all in which two outcomes differ.
func (v view) both(old, now side) error {
	c, err := outcome.Compare(old.outcome, now.outcome, sameUnder(v.rules, old.open, now.open))
	if err != nil {
		return err
	}
	if c.EndingDiffers {
		fmt.Fprintf(v.w, "\nending: %s → %s\n", old.outcome.Ending, now.outcome.Ending)
	}
	for _, d := range c.Parts {
		if err := v.difference(d, old, now); err != nil {
			return err
		}
	}
	if err := v.partial(now); err != nil {
		return err
	}
	return v.flaky(old, now)
}

func (v view) difference(d outcome.Difference, old, now side) error {
	was, err := old.words(d.Old)
	if err != nil {
		return err
	}
	is, err := now.words(d.Now)
	if err != nil {
		return err
	}
	fmt.Fprintf(v.w, "\n%s: %s → %s\n", name.Print(report.PartName(d.Key)), was, is)
	if d.Old != nil && d.Now != nil && (d.Old.Digest == d.Now.Digest || d.Old.Form == outcome.Symlink && d.Now.Form == outcome.Symlink) {
		return nil // the words say it all
	}
	a, err := shown(v.rules, old.open, d.Old)
	if err != nil {
		return err
	}
	b, err := shown(v.rules, now.open, d.Now)
	if err != nil {
		return err
	}
	return diff.Full(v.w, a, b, v.colour)
}

// one writes an outcome that there is nothing to compare with.
func (v view) one(now side) error {
	fmt.Fprintf(v.w, "\nending: %s\n", now.outcome.Ending)
	for _, p := range now.outcome.Parts {
		if p.Flaky || p.Size == 0 && p.Place != outcome.File {
			continue
		}
		if err := v.difference(outcome.Difference{Key: p.Key, Now: &p}, now, now); err != nil {
			return err
		}
	}
	return v.flaky(now)
}

// flaky names the parts that differ from run to run.
func (v view) flaky(sides ...side) error {
	var parts []string
	for _, s := range sides {
		for _, p := range flakyParts(s.outcome) {
			if p = name.Print(p); !slices.Contains(parts, p) {
				parts = append(parts, p)
			}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(v.w, "\nflaky, not compared: %s\n", strings.Join(parts, ", "))
	return err
}

// partialLinesMax bounds what is shown of a part that a limit cut off: a tool
// that loops fills it with the same line again and again.
const partialLinesMax = 200

// partial writes what a case left that was ended by a limit: it is kept for
// people, and not compared.
func (v view) partial(now side) error {
	if !now.outcome.Ending.Partial() {
		return nil
	}
	fmt.Fprintf(v.w, "\nleft when it was ended, not compared:\n")
	for _, p := range now.outcome.Parts {
		words, err := now.words(&p)
		if err != nil {
			return err
		}
		fmt.Fprintf(v.w, "\n%s: %s\n", name.Print(report.PartName(p.Key)), words)
		content, err := shown(nil, now.open, &p)
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

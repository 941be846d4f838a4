package past

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/console"
	"muster/regress/internal/content"
	"muster/regress/internal/diff"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/pastrun"
)

// These bound what is shown of a cause.
const (
	shownCases   = 20
	shownExample = 3 // cases with an edit
)

// showCause prints a cause, its edits in a few cases, and the names of its cases.
func showCause(ctx context.Context, p *pastrun.Past, o *regress.Options, h host.Host, found *cause.Found, c *cause.Cause) error {
	decided, err := p.Run.Decisions()
	if err != nil {
		return err
	}
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  %s%s  (run %s)\n", c.ID, c.Name, decidedText(decided[c.ID]), p.Run.ID)
	fmt.Fprintf(w, "%s: %s, %s of them with nothing else; %s\n", c.Kind, readable.Cases(c.Cases), readable.Number(c.Sole), readable.Count(c.Lines, "changed line"))
	fmt.Fprintf(w, "signature %s", c.Signature)
	if c.Family != "" {
		fmt.Fprintf(w, ", family %s", c.Family)
	}
	fmt.Fprintf(w, "\n")
	for _, folded := range c.Folded {
		fmt.Fprintf(w, "  folded in: %s\n", readable.Line(folded))
	}
	index := slices.IndexFunc(found.Causes, func(x cause.Cause) bool { return x.ID == c.ID })
	members := analyse.CasesByCause(found)[index]
	if err := writeEdits(ctx, p, w, found, index, examples(c, members), console.UsesColour(&o.Report, h.Stdout)); err != nil {
		return err
	}
	fmt.Fprintf(w, "\ncases:\n")
	for _, m := range members[:min(shownCases, len(members))] {
		fmt.Fprintf(w, "  %s\n", name.Print(m))
	}
	if more := len(members) - shownCases; more > 0 {
		fmt.Fprintf(w, "  … %s more: muster review goes through all\n", readable.Number(more))
	}
	fmt.Fprintf(w, "\nsmallest: muster show %s\n", name.Quote(name.Typed(c.Smallest)))
	writeReproduction(ctx, p, w, c.Smallest, o.Configured)
	_, err = io.WriteString(h.Stdout, w.String())
	return err
}

// examples chooses the cases whose edits are shown: the example, the smallest, and others.
func examples(c *cause.Cause, members []string) []string {
	list := []string{c.Example}
	for _, m := range append([]string{c.Smallest}, members...) {
		if len(list) < shownExample && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// writeEdits writes an edit of a cause for each of some cases. It leaves out cases whose difference
// is not an edit of a text.
func writeEdits(ctx context.Context, p *pastrun.Past, w io.Writer, found *cause.Found, index int, cases []string, colour bool) error {
	kept, err := p.Run.OpenOutcomes()
	if err != nil {
		return err
	}
	defer kept.Close()
	base, err := p.Run.OpenBase(ctx)
	if err != nil {
		return err
	}
	defer base.Close()
	rules, err := normalize.Parse(p.Options.Judge.Normalize)
	if err != nil {
		return err
	}
	if p.Run.Command == regress.CheckCommand && p.Run.CheckGolden(p.Options.Store.Golden, base.Digest(), base.Meta()) != nil {
		_, err := fmt.Fprintf(w, "\nthe golden has changed since this run, so there is no difference to show: muster check again\n")
		return err
	}
	sides := func(name string) (was, is content.Side, err error) { return analyse.RunSides(base.Store, kept, name) }
	show := analyse.Excerpter(diff.Excerpt)
	if colour {
		show = diff.ExcerptMarked
	}
	for _, caseName := range cases {
		if r := p.Run.Result(caseName); r == nil || r.Accepted {
			continue // the golden has its new outcome already
		}
		text, err := analyse.Excerpt(found, index, caseName, rules, sides, show)
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if colour {
			text = diff.ColourAll(text) // ExcerptMarked leaves lines without colour
		}
		fmt.Fprintf(w, "\n%s\n%s", name.Print(caseName), text)
	}
	return nil
}

package past

import (
	"context"
	"errors"
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
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
	"muster/regress/internal/wholegolden"
)

// Show prints the whole difference of one case in a past run, and a shell line that reproduces it. For
// a target such as G1 it prints the cause and its cases. For a record it prints the outcome of a
// case. An empty id means the last run.
func Show(ctx context.Context, o regress.Options, h host.Host, target, id string) error {
	if !pastrun.IsCauseID(target) {
		run, err := state.FindRun(state.Open(o.Store.State), id)
		if err != nil {
			return err
		}
		if run.Command == regress.RecordCommand {
			return showRecorded(ctx, &o, h, run, target)
		}
	}
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return err
	}
	if err := p.Run.RequireFinished(false); err != nil {
		return err
	}
	n, err := p.Run.FindTarget(ctx, target)
	if err != nil {
		return err
	}
	if n.Cause != nil {
		return showCause(ctx, p, &o, h, n.Found, n.Cause)
	}
	return showCase(ctx, p, &o, h, n.Result)
}

func showCase(ctx context.Context, p *pastrun.Past, o *regress.Options, h host.Host, res *state.Result) error {
	raw := string(res.Name)
	w := &strings.Builder{}
	accepted := ""
	if res.Accepted {
		accepted = ", accepted"
	}
	fmt.Fprintf(w, "%s  %s%s  (run %s)\n", name.Print(raw), res.Verdict, accepted, p.Run.ID)
	if where := report.EngineWords(res.Engine); where != "" {
		fmt.Fprintf(w, "on the engine: %s\n", where)
	}
	if res.Why != "" {
		fmt.Fprintf(w, "%s\n", readable.Text(res.Why))
	}
	if res.Verdict != regress.EnvironmentFailed && res.Verdict != regress.Missing {
		if err := writeDifference(ctx, p, w, raw, console.UsesColour(&o.Report, h.Stdout)); err != nil {
			return err
		}
	}
	writeReproduction(ctx, p, w, raw, o.Configured)
	_, err := io.WriteString(h.Stdout, w.String())
	return err
}

func writeDifference(ctx context.Context, p *pastrun.Past, w io.Writer, raw string, colour bool) error {
	found, err := p.Run.OpenOutcomes()
	if err != nil {
		return err
	}
	defer found.Close()
	now, known, err := found.Get(raw)
	if err != nil {
		return err
	}
	if !known {
		return fault.Inputf("run %s did not keep the outcome of %s: run muster %s again", p.Run.ID, name.Print(raw), p.Run.Command)
	}
	base, err := p.Run.OpenBase(ctx)
	if err != nil {
		return err
	}
	defer base.Close()
	old, known, err := base.Get(raw)
	if err != nil {
		return err
	}
	is := content.KeptSide(&now.Outcome, found.Content)
	if !known {
		v := analyse.View{W: w, Colour: colour}
		if err := v.WriteOutcome(is); err != nil {
			return err
		}
		return v.WriteVarying(nil, &now.Outcome)
	}
	if p.Run.Command == regress.CheckCommand && p.Run.CheckGolden(p.Options.Store.Golden, base.Digest(), base.Meta()) != nil {
		fmt.Fprintf(w, "note: the golden has changed since this run\n")
	}
	if old.Origin > 0 {
		fmt.Fprintf(w, "the golden has it from %s\n", readable.Line(wholegolden.AcceptText(base.Meta().Accepts[old.Origin-1])))
	}
	rules, err := normalize.Parse(p.Options.Judge.Normalize)
	if err != nil {
		return err
	}
	v := analyse.View{W: w, Rules: rules, Colour: colour, Edits: editsOf(p, raw)}
	was := content.Side{Outcome: &old.Outcome, Open: base.Content}
	if err := v.WriteDifferences(was, is); err != nil {
		return err
	}
	return v.WriteVarying(&was, &now.Outcome)
}

// editsOf returns the edits of a case. They only mark words, so it returns none if the run has no
// readable causes.
func editsOf(p *pastrun.Past, caseName string) []cause.PartEdits {
	found, err := p.Run.CausesIfAny()
	if err != nil || found == nil {
		return nil
	}
	m, known := found.Member(caseName)
	if !known {
		return nil
	}
	return m.Parts
}

// writeReproduction writes the shell lines that run a case by hand.
func writeReproduction(ctx context.Context, p *pastrun.Past, w io.Writer, raw string, configured bool) {
	fmt.Fprintf(w, "\nreproduce: %s\n", reproduceCase(ctx, &p.Options, p.Host, raw, "kept", job.WordsFor(&p.Options.Command, raw), configured))
	if p.Run.Command == regress.CompareCommand {
		fmt.Fprintf(w, "reference: %s\n", reproduceCase(ctx, &p.Options, p.Host, raw, "kept-reference", p.Options.Command.Reference, configured))
	}
	if p.Options.Corpus.Path == "-" {
		fmt.Fprintf(w, "           with the same archive on standard input\n")
	}
}

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
	for _, joined := range c.Joined {
		fmt.Fprintf(w, "  of these: %s\n", joined)
	}
	for _, folded := range c.Folded {
		fmt.Fprintf(w, "  folded in: %s\n", folded)
	}
	if more := c.FoldedCount - len(c.Folded); more > 0 {
		fmt.Fprintf(w, "  … and %s more\n", readable.Number(more))
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

// showRecorded prints the outcome of a case that a record wrote into the golden.
func showRecorded(ctx context.Context, o *regress.Options, h host.Host, run *state.Run, target string) error {
	p, err := pastrun.New(run, o, h, "")
	if err != nil {
		return err
	}
	if err := p.Run.RequireFinished(false); err != nil {
		return err
	}
	raw, err := name.ParseTyped(target)
	if err != nil {
		return err
	}
	base, err := openRecorded(ctx, p, raw)
	if err != nil {
		return err
	}
	defer base.Close()
	rec, known, err := base.Get(raw)
	if err != nil {
		return err
	}
	if !known {
		inGolden := slices.Sorted(base.Names())
		return fault.Inputf("%s has no case %s%s: muster cases lists the cases", p.Options.Store.Golden, name.Print(raw), name.Near(raw, inGolden))
	}
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  %s  (run %s)\n", name.Print(raw), recordedText(&rec), run.ID)
	v := analyse.View{W: w, Colour: console.UsesColour(&o.Report, h.Stdout)}
	if err := v.WriteOutcome(content.KeptSide(&rec.Outcome, base.Content)); err != nil {
		return err
	}
	v.WriteNames("varies from run to run", content.FlakyParts(&rec.Outcome))
	v.WriteNames("not compared, as --ignore says", content.IgnoredParts(&rec.Outcome))
	writeReproduction(ctx, p, w, raw, o.Configured)
	_, err = io.WriteString(h.Stdout, w.String())
	return err
}

// openRecorded opens the golden of a record, unless another run has written it since.
func openRecorded(ctx context.Context, p *pastrun.Past, raw string) (*place.Golden, error) {
	sum, err := keptIn(p.Run.State)
	if err != nil {
		return nil, err
	}
	if sum.Recorded == 0 {
		line := reproduceCase(ctx, &p.Options, p.Host, raw, "kept", job.WordsFor(&p.Options.Command, raw), p.Options.Configured)
		return nil, fault.Inputf("run %s recorded nothing, because every case failed: run one by hand: %s", p.Run.ID, line)
	}
	path := p.Options.Store.Golden
	base, err := place.Open(ctx, path, place.NewOptions(p.Options.Store.State, p.Host.Files))
	if err != nil {
		return nil, place.ExplainMissing(path, err)
	}
	if base.Meta().Run != p.Run.ID {
		return nil, errors.Join(fault.Inputf("%s is not what run %s recorded: record again, or name another run with --run", path, p.Run.ID), base.Close())
	}
	return base, nil
}

// recordedText describes where the outcome in the golden comes from.
func recordedText(rec *golden.Record) string {
	if rec.Origin != 0 {
		return "recorded, replaced by an accept"
	}
	return "recorded"
}

package past

import (
	"context"
	"fmt"
	"io"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/console"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
	"muster/regress/internal/wholegolden"
)

// showCase prints the whole difference of a case.
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

// writeDifference writes every part in which a case differs.
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
		fmt.Fprintf(w, "the golden has it from %s\n", readable.Line(wholegolden.DescribeAccept(base.Meta().Accepts[old.Origin-1]).String()))
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

package regress

import (
	"context"
	"fmt"
	"io"
	"strings"

	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/goldens"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Show prints the whole difference of one case in a past run, and the one line
// that reproduces it; or, for a target such as G1, a cause and where it shows. Of a
// record it prints the outcome of a case. An empty id means the last run.
func Show(ctx context.Context, o Options, target, id string) error {
	if !isCauseID(target) {
		run, err := state.FindRun(state.Open(o.Store.State), id)
		if err != nil {
			return err
		}
		if run.Command == report.RecordCommand {
			return showRecorded(ctx, &o, run, target)
		}
	}
	p, err := openPast(&o, id)
	if err != nil {
		return err
	}
	if err := p.finished(); err != nil {
		return err
	}
	n, err := p.point(ctx, target)
	if err != nil {
		return err
	}
	if n.cause != nil {
		return p.showCause(ctx, &o, n.found, n.cause)
	}
	return p.showCase(ctx, &o, n.result)
}

func (p *past) showCase(ctx context.Context, o *Options, res *state.Result) error {
	raw := string(res.Name)
	w := &strings.Builder{}
	accepted := ""
	if res.Accepted {
		accepted = ", accepted"
	}
	fmt.Fprintf(w, "%s  %s%s  (run %s)\n", name.Print(raw), res.Verdict, accepted, p.run.ID)
	if where := report.EngineWords(res.Engine); where != "" {
		fmt.Fprintf(w, "on the engine: %s\n", where)
	}
	if res.Why != "" {
		fmt.Fprintf(w, "%s\n", readable.Text(res.Why))
	}
	if res.Verdict != outcome.Environment && res.Verdict != outcome.Missing {
		if err := p.show(ctx, w, raw, o.Report.console().Out.Colour); err != nil {
			return err
		}
	}
	p.reproduceText(ctx, w, raw, o.Configured)
	_, err := io.WriteString(o.Report.Stdout, w.String())
	return err
}

// reproduceText writes how a case is run by hand.
func (p *past) reproduceText(ctx context.Context, w io.Writer, raw string, configured bool) {
	fmt.Fprintf(w, "\nreproduce: %s\n", p.options.reproduce(ctx, raw, "kept", p.options.Command.wordsFor(raw), configured))
	if p.run.Command == report.CompareCommand {
		fmt.Fprintf(w, "reference: %s\n", p.options.reproduce(ctx, raw, "kept-reference", p.options.Command.Reference, configured))
	}
	if p.options.Corpus.Path == "-" {
		fmt.Fprintf(w, "           with the same archive on standard input\n")
	}
}

// show prints every part in which a case differs.
func (p *past) show(ctx context.Context, w io.Writer, raw string, colour bool) error {
	found, err := p.outcomes()
	if err != nil {
		return err
	}
	defer found.Close()
	now, known, err := found.Get(raw)
	if err != nil {
		return err
	}
	if !known {
		return fault.Inputf("run %s did not keep the outcome of %s: run muster %s again", p.run.ID, name.Print(raw), p.run.Command)
	}
	base, err := p.base(ctx)
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
		err := v.WriteOutcome(is)
		v.WriteVarying(nil, &now.Outcome)
		return err
	}
	if p.run.Command == report.CheckCommand && p.acceptsInto(base.Digest(), base.Meta()) != nil {
		fmt.Fprintf(w, "note: the golden has changed since this run\n")
	}
	if old.Origin > 0 {
		fmt.Fprintf(w, "the golden has it from %s\n", readable.Line(goldens.DescribeAccept(base.Meta().Accepts[old.Origin-1]).String()))
	}
	rules, err := normalize.Parse(p.options.Judge.Normalize)
	if err != nil {
		return err
	}
	v := analyse.View{W: w, Rules: rules, Colour: colour, Edits: p.editsOf(raw)}
	if err := v.WriteDifferences(content.Side{Outcome: &old.Outcome, Open: base.Content}, is); err != nil {
		return err
	}
	v.WriteVarying(&old.Outcome, &now.Outcome)
	return nil
}

// editsOf returns the edits of a case, none if the run kept no causes that can be read: they
// only mark words.
func (p *past) editsOf(caseName string) []cause.PartEdits {
	found, err := p.causesIfAny()
	if err != nil || found == nil {
		return nil
	}
	m, known := found.Member(caseName)
	if !known {
		return nil
	}
	return m.Parts
}

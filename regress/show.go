package regress

import (
	"context"
	"fmt"
	"io"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/readable"
	"muster/regress/internal/report"
)

// Show prints the whole difference of one case in a past run, and the one line
// that reproduces it. An empty id means the last run.
func Show(ctx context.Context, o Options, caseName, id string) error {
	p, err := openPast(&o, id)
	if err != nil {
		return err
	}
	if err := p.finished(); err != nil {
		return err
	}
	raw, err := parseName(caseName)
	if err != nil {
		return err
	}
	res, err := p.result(raw)
	if err != nil {
		return err
	}
	w := &strings.Builder{}
	accepted := ""
	if res.Accepted {
		accepted = ", accepted"
	}
	fmt.Fprintf(w, "%s  %s%s  (run %s)\n", name.Print(raw), res.Verdict, accepted, p.run.ID)
	if res.Why != "" {
		fmt.Fprintf(w, "%s\n", readable.Text(res.Why))
	}
	if res.Verdict != outcome.Environment && res.Verdict != outcome.Missing {
		if err := p.show(ctx, w, raw, o.Report.console().Out.Colour); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\nreproduce: %s\n", p.options.reproduce(ctx, raw, "kept", p.options.Command.wordsFor(raw), o.Configured))
	if p.run.Command == report.CompareCommand {
		fmt.Fprintf(w, "reference: %s\n", p.options.reproduce(ctx, raw, "kept-reference", p.options.Command.Reference, o.Configured))
	}
	if p.options.Corpus.Path == "-" {
		fmt.Fprintf(w, "           with the same archive on standard input\n")
	}
	_, err = io.WriteString(o.Report.Stdout, w.String())
	return err
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
	if !known {
		return view{w, nil, colour}.one(side{&now.Outcome, found.Content})
	}
	if p.run.Command == report.CheckCommand && base.Digest().String() != p.run.Golden {
		fmt.Fprintf(w, "note: the golden has changed since this run\n")
	}
	rules, err := normalize.Parse(p.options.Judge.Normalize)
	if err != nil {
		return err
	}
	v := view{w, rules, colour}
	return v.both(side{&old.Outcome, base.Content}, side{&now.Outcome, found.Content})
}

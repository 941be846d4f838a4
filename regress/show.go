package regress

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

func shellQuote(s string) string { return shellescape.Quote(s) }

func shellQuoteAll(args []string) string { return shellescape.QuoteCommand(args) }

// isChecking picks the runs that have results of their own.
func isChecking(r *state.Run) bool { return r.Command == "check" || r.Command == "compare" }

// notIdentical returns the names of the cases that were not identical in a run.
func notIdentical(r *state.Run) (map[string]bool, error) {
	results, err := r.Results()
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(results))
	for _, res := range results {
		names[string(res.Name)] = true
	}
	return names, nil
}

// past is a run that is looked at again.
type past struct {
	run     *state.Run
	options Options
	results []state.Result
}

func openPast(o *Options, id string) (*past, error) {
	run, err := state.Open(o.Store.State).Find(id, isChecking)
	if err != nil {
		return nil, err
	}
	if !isChecking(run) {
		return nil, fault.Inputf("run %s was a %s: differences come from check and compare", run.ID, run.Command)
	}
	p := &past{run: run}
	if err := json.Unmarshal(run.Options, &p.options); err != nil {
		return nil, fault.Environmentf("options of run %s: %w", run.ID, err)
	}
	p.results, err = run.Results()
	return p, err
}

func (p *past) result(raw string) (*state.Result, error) {
	i := slices.IndexFunc(p.results, func(r state.Result) bool { return string(r.Name) == raw })
	if i < 0 {
		return nil, fault.Inputf("run %s has no difference in %s: it was identical there, or is no case", p.run.ID, name.Print(raw))
	}
	return &p.results[i], nil
}

// Show prints the whole difference of one case in a past run, and the one line
// that reproduces it. An empty id means the last run.
func Show(_ context.Context, o Options, caseName, id string) error {
	p, err := openPast(&o, id)
	if err != nil {
		return err
	}
	raw, err := name.Parse(caseName)
	if err != nil {
		return fault.Inputf("%w", err)
	}
	res, err := p.result(raw)
	if err != nil {
		return err
	}
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s  %s  (run %s)\n", name.Print(raw), res.Verdict, p.run.ID)
	if res.Why != "" {
		fmt.Fprintf(w, "%s\n", report.Printable(res.Why))
	}
	if res.Verdict != outcome.Environment && res.Verdict != outcome.Missing {
		if err := p.show(w, raw, o.Report.console().Out.Colour); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\nreproduce: %s\n", p.reproduce(raw))
	_, err = io.WriteString(o.Report.Stdout, w.String())
	return err
}

// reproduce returns the shell line that runs one case in a folder that stays.
func (p *past) reproduce(raw string) string {
	o := p.options
	args := []string{"muster", "run", name.Print(raw), o.Corpus.Path, "--keep", "kept"}
	flag := func(name string, values ...string) {
		for _, v := range values {
			args = append(args, "--"+name, v)
		}
	}
	flag("headers", o.Corpus.Headers...)
	flag("context", o.Corpus.Context...)
	flag("env", o.Command.Env...)
	flag("pass-env", o.Command.PassEnv...)
	if o.Command.Shell {
		args = append(args, "--shell")
	}
	if o.Command.Stdin {
		args = append(args, "--stdin")
	}
	if len(o.Command.Words) > 0 {
		args = append(append(args, "--"), o.Command.Words...)
	}
	return shellQuoteAll(args)
}

// show prints every part in which a case differs.
func (p *past) show(w io.Writer, raw string, colour bool) error {
	found, err := golden.Open(p.run.Outcomes())
	if err != nil {
		return fmt.Errorf("outcomes of run %s: %w", p.run.ID, err)
	}
	defer found.Close()
	now, known, err := found.Get(raw)
	if err != nil || !known {
		return fault.Inputf("run %s did not get so far as to keep %s: %v", p.run.ID, name.Print(raw), err)
	}
	from := p.options.Store.Golden
	if p.run.Command == "compare" {
		from = p.run.References()
	}
	base, err := golden.Open(from)
	if err != nil {
		return noGolden(from, err)
	}
	defer base.Close()
	old, known, err := base.Get(raw)
	if err != nil {
		return err
	}
	if !known {
		return describeNew(w, side{&now.Outcome, found.Content}, colour)
	}
	if p.run.Command == "check" && base.Digest().String() != p.run.Golden {
		fmt.Fprintf(w, "note: the golden has changed since this run\n")
	}
	rules, err := normalize.Parse(p.options.Judge.Normalize)
	if err != nil {
		return err
	}
	return showBoth(w, rules, side{&old.Outcome, base.Content}, side{&now.Outcome, found.Content}, colour)
}

func showBoth(w io.Writer, rules normalize.Rules, old, now side, colour bool) error {
	c, err := outcome.Compare(old.outcome, now.outcome, sameUnder(rules, old.open, now.open))
	if err != nil {
		return err
	}
	if c.EndingDiffers {
		fmt.Fprintf(w, "\nending: %s → %s\n", old.outcome.Ending, now.outcome.Ending)
	}
	for _, d := range c.Parts {
		fmt.Fprintf(w, "\n%s: %s → %s\n", name.Print(report.PartName(d.Key)), partText(d.Old), partText(d.Now))
		if d.Old != nil && d.Now != nil && d.Old.Digest == d.Now.Digest {
			continue
		}
		a, err := shown(rules, old.open, d.Old)
		if err != nil {
			return err
		}
		b, err := shown(rules, now.open, d.Now)
		if err != nil {
			return err
		}
		if err := report.Full(w, a, b, colour); err != nil {
			return err
		}
	}
	tellPartial(w, now.outcome)
	if flaky := flakyParts(now.outcome); len(flaky) > 0 {
		fmt.Fprintf(w, "\nflaky, not compared: %s\n", strings.Join(flaky, ", "))
	}
	return nil
}

// tellPartial lists what a case left that was ended by a limit: it is kept for
// people, and not compared.
func tellPartial(w io.Writer, o *outcome.Outcome) {
	if !o.Ending.Partial() {
		return
	}
	fmt.Fprintf(w, "\nleft when it was ended, not compared:\n")
	for _, part := range o.Parts {
		fmt.Fprintf(w, "  %s: %s\n", name.Print(report.PartName(part.Key)), partText(&part))
	}
}

// describeNew prints the outcome of a case that the golden does not have.
func describeNew(w io.Writer, now side, colour bool) error {
	fmt.Fprintf(w, "\nending: %s\n", now.outcome.Ending)
	for _, p := range now.outcome.Parts {
		if p.Size == 0 && p.Place != outcome.File {
			continue
		}
		fmt.Fprintf(w, "\n%s: %s\n", name.Print(report.PartName(p.Key)), partText(&p))
		b, err := shown(nil, now.open, &p)
		if err == nil {
			err = report.Full(w, nil, b, colour)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partText says in a few words what a part is.
func partText(p *outcome.Part) string {
	switch {
	case p == nil:
		return "absent"
	case p.Form == outcome.Gone:
		return "removed"
	case p.Form == outcome.Symlink:
		return "symbolic link"
	case p.Exec:
		return fmt.Sprintf("executable file of %d bytes", p.Size)
	}
	return fmt.Sprintf("%d bytes", p.Size)
}

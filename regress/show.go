package regress

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/normalize"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

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
	if p.options, err = optionsOf(run); err != nil {
		return nil, err
	}
	p.results, err = run.Results()
	return p, err
}

func (p *past) result(raw string) (*state.Result, error) {
	i := slices.IndexFunc(p.results, func(r state.Result) bool { return string(r.Name) == raw })
	if i < 0 {
		return nil, fault.Inputf("run %s has no difference in %s: it was identical there, did not run, or is no case", p.run.ID, name.Print(raw))
	}
	return &p.results[i], nil
}

// finished refuses a run that was broken off: what it has no result for may
// differ all the same, and the outcomes that it kept are not complete.
func (p *past) finished() error {
	if p.run.Finished {
		return nil
	}
	return fault.Inputf("run %s did not finish: go on with muster %s --resume, or make a new run", p.run.ID, p.run.Command)
}

// Show prints the whole difference of one case in a past run, and the one line
// that reproduces it. An empty id means the last run.
func Show(_ context.Context, o Options, caseName, id string) error {
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
		fmt.Fprintf(w, "%s\n", report.Printable(res.Why))
	}
	if res.Verdict != outcome.Environment && res.Verdict != outcome.Missing {
		if err := p.show(w, raw, o.Report.console().Out.Colour); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\nreproduce: %s\n", p.options.reproduce(raw, "kept", p.options.Command.wordsFor(raw)))
	if p.run.Command == "compare" {
		fmt.Fprintf(w, "reference: %s\n", p.options.reproduce(raw, "kept-reference", p.options.Command.Reference))
	}
	_, err = io.WriteString(o.Report.Stdout, w.String())
	return err
}

// show prints every part in which a case differs.
func (p *past) show(w io.Writer, raw string, colour bool) error {
	found, err := golden.Open(p.run.Outcomes())
	if err != nil {
		return fmt.Errorf("outcomes of run %s: %w", p.run.ID, err)
	}
	defer found.Close()
	now, known, err := found.Get(raw)
	if err != nil {
		return err
	}
	if !known {
		return fault.Inputf("run %s did not get so far as to keep %s", p.run.ID, name.Print(raw))
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
		return view{w, nil, colour}.one(side{&now.Outcome, found.Content})
	}
	if p.run.Command == "check" && base.Digest().String() != p.run.Golden {
		fmt.Fprintf(w, "note: the golden has changed since this run\n")
	}
	rules, err := normalize.Parse(p.options.Judge.Normalize)
	if err != nil {
		return err
	}
	v := view{w, rules, colour}
	return v.both(side{&old.Outcome, base.Content}, side{&now.Outcome, found.Content})
}

// Differing returns the printed names of what was not identical in a past run,
// for a shell to complete. An empty id means the last run.
func Differing(o Options, id string) ([]string, error) {
	p, err := openPast(&o, id)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(p.results))
	for i, r := range p.results {
		names[i] = typedName(string(r.Name))
	}
	return names, nil
}

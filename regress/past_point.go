package regress

import (
	"context"
	"slices"
	"strings"

	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// pointed is what somebody pointed at: a cause, by its ID, or a case.
type pointed struct {
	cause  *cause.Cause
	found  *cause.Found // has the cause
	result *state.Result
}

// point finds out what G1 or a name stands for. A case that is called like a cause is
// named ./G1.
func (p *past) point(ctx context.Context, text string) (n pointed, err error) {
	if isCauseID(text) {
		if n.found, err = p.causes(); err != nil {
			return n, err
		}
		for i := range n.found.Causes {
			if n.found.Causes[i].ID == text {
				n.cause = &n.found.Causes[i]
				return n, nil
			}
		}
		if raw, err := name.ParseTyped(text); err != nil || p.result(raw) == nil {
			return n, fault.Inputf("run %s has no cause %s, it has %d: muster groups lists them", p.run.ID, text, len(n.found.Causes))
		}
	}
	raw, err := name.ParseTyped(text)
	if err != nil {
		return n, err
	}
	if n.result = p.result(raw); n.result == nil {
		if upper := strings.ToUpper(text); isCauseID(upper) {
			return n, fault.Inputf("run %s has no case %s: did you mean the cause %s?", p.run.ID, text, upper)
		}
		if list := strings.Split(text, ","); len(list) > 1 && !slices.ContainsFunc(list, func(id string) bool { return !isCauseID(id) }) {
			return n, fault.Inputf("run %s has no case %s: name causes apart, as in %s", p.run.ID, text, strings.Join(list, " "))
		}
		err = p.absent(ctx, raw)
	}
	return n, err
}

func isCauseID(text string) bool {
	if len(text) < 2 || text[0] != 'G' {
		return false
	}
	for _, c := range text[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// causes returns the causes that the run kept.
func (p *past) causes() (*cause.Found, error) {
	if err := p.finished(); err != nil {
		return nil, err
	}
	found, err := p.causesIfAny()
	if err == nil && found == nil {
		err = fault.Inputf("run %s has no causes, it is of an earlier muster: run muster %s again", p.run.ID, p.run.Command)
	}
	return found, err
}

// causesIfAny returns nil for a run of an earlier muster.
func (p *past) causesIfAny() (*cause.Found, error) {
	encoded, err := p.run.Causes()
	if err != nil || encoded == nil {
		return nil, err
	}
	found, err := cause.Decode(encoded)
	if err != nil {
		return nil, fault.Inputf("%s, the causes of run %s, is damaged: %w: run muster %s again", p.run.File("causes.json"), p.run.ID, err, p.run.Command)
	}
	return analyse.MakePrintable(found), nil
}

// acceptsInto refuses a golden, by its digest and meta, that is not the one that
// the run compared with, unless only accepts of this run changed it.
func (p *past) acceptsInto(digest outcome.Digest, m golden.Meta) error {
	if digest.String() == p.run.Golden || m.AcceptedRun == p.run.ID && m.AcceptBase.String() == p.run.Golden {
		return nil
	}
	return fault.Inputf("the golden %s is not the one that run %s compared with: run muster check again, then accept", p.options.Store.Golden, p.run.ID)
}

func promotedIn(results []state.Result) func(string) bool {
	in := map[string]bool{}
	for _, r := range results {
		in[string(r.Name)] = r.Accepted
	}
	return func(caseName string) bool { return in[caseName] }
}

// absent says why a run has no difference in a case: the case was identical, did not run,
// or does not exist.
func (p *past) absent(ctx context.Context, raw string) error {
	lines, err := p.run.ReadLines()
	if err != nil {
		return err
	}
	var known []string
	for _, l := range lines {
		if string(l.Name) == raw {
			return fault.Inputf("%s was identical in run %s: muster groups lists what differs", name.Print(raw), p.run.ID)
		}
		known = append(known, string(l.Name))
	}
	for _, r := range p.results {
		known = append(known, string(r.Name)) // missing cases have no line
	}
	inGolden := p.goldenNames(ctx)
	if slices.Contains(inGolden, raw) {
		return fault.Inputf("%s is in the golden, and did not run in run %s: muster check --cases %s runs it", name.Print(raw), p.run.ID, name.Quote(name.Print(raw)))
	}
	known = append(known, inGolden...)
	slices.Sort(known)
	return fault.Inputf("run %s has no case %s%s: muster cases lists the cases", p.run.ID, name.Print(raw), name.Near(raw, slices.Compact(known)))
}

// goldenNames returns the names of the golden's cases; none for a compare. It only helps a
// message, so it returns none if the golden cannot be opened.
func (p *past) goldenNames(ctx context.Context) []string {
	if p.run.Command != report.CheckCommand {
		return nil
	}
	base, err := p.base(ctx)
	if err != nil {
		return nil
	}
	defer base.Close()
	return slices.Collect(base.Names())
}

package regress

import (
	"context"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/report"
)

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

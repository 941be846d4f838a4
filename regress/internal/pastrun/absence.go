package pastrun

import (
	"context"
	"slices"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// explainAbsence returns an error that says why the run has no difference in a case: the case was
// identical, did not run, or does not exist.
func (r *Run) explainAbsence(ctx context.Context, caseName string) error {
	lines, err := r.State.ReadLines()
	if err != nil {
		return err
	}
	var known []string
	for _, l := range lines {
		if string(l.Name) == caseName {
			return fault.Inputf("%s was identical in run %s: muster groups lists what differs", name.Print(caseName), r.ID)
		}
		known = append(known, string(l.Name))
	}
	for i := range r.Results {
		known = append(known, string(r.Results[i].Name)) // missing cases have no line
	}
	inGolden := r.goldenNames(ctx)
	if slices.Contains(inGolden, caseName) {
		return fault.Inputf("%s is in the golden, and did not run in run %s: muster check --cases %s runs it", name.Print(caseName), r.ID, name.Quote(name.Print(caseName)))
	}
	known = append(known, inGolden...)
	slices.Sort(known)
	return fault.Inputf("run %s has no case %s%s: muster cases lists the cases", r.ID, name.Print(caseName), name.Near(caseName, slices.Compact(known)))
}

// goldenNames returns the names of the golden's cases, none for a compare. It only helps a
// message, so it returns none if the golden cannot be opened.
func (r *Run) goldenNames(ctx context.Context) []string {
	if r.Command != regress.CheckCommand {
		return nil
	}
	base, err := r.OpenBase(ctx)
	if err != nil {
		return nil
	}
	defer base.Close()
	return slices.Collect(base.Names())
}

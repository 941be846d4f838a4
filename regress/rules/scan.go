package rules

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"muster/internal/readable"
	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/cause"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/normalize"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// Scan learns the rules of a past check's causes again, and replays them on all cases, however long that takes. It
// keeps the result with the run. id is the beginning of the run's ID; "" is the last one.
func Scan(ctx context.Context, o regress.Options, h host.Host, id string) error {
	unlock, err := state.Open(o.Store.State).Lock()
	if err != nil {
		return err
	}
	defer unlock()
	p, err := pastrun.OpenLast(&o, h, id)
	if err != nil {
		return err
	}
	if p.Run.Command != regress.CheckCommand {
		return fault.Inputf("run %s was a compare: it kept no unchanged outputs to read", p.Run.ID)
	}
	if err := p.Run.RequireFinished(true); err != nil {
		return err
	}
	found, err := p.Run.Causes()
	if err != nil {
		return err
	}
	of, err := scan(ctx, p, found)
	if err != nil {
		return err
	}
	encoded, err := found.Encode()
	if err == nil {
		err = p.Run.State.SaveCauses(encoded)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(h.Stdout, scanText(p.Run.ID, found, of))
	return err
}

// scan adds the rules to the causes of a run, and returns how many cases are unchanged.
func scan(ctx context.Context, p *pastrun.Past, found *cause.Found) (of int, err error) {
	base, err := p.Run.OpenBase(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	if base.Digest().String() != p.Run.State.Golden {
		return 0, fault.Inputf("the golden %s is not the one that run %s compared with: scan before the first accept, or run muster check again", p.Options.Store.Golden, p.Run.ID)
	}
	names, err := unchangedNames(p.Run, base.Store)
	if err != nil || len(found.Causes) == 0 {
		return len(names), err
	}
	kept, err := p.Run.OpenOutcomes()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	rewrites, err := normalize.Parse(p.Options.Judge.Normalize)
	if err != nil {
		return 0, err
	}
	ignored, err := content.ParseIgnore(p.Options.Judge.Ignore)
	if err != nil {
		return 0, err
	}
	for i := range found.Causes {
		found.Causes[i].Rule = nil
	}
	analyse.AddRules(found, rewrites, func(caseName string) (was, is content.Side, err error) {
		return analyse.RunSides(base.Store, kept, caseName)
	}, analyse.Unchanged{Of: len(names), Names: names, Side: analyse.BaseSide(base.Store, ignored.Match)}, analyse.PatientBudgets(ctx))
	if ctx.Err() != nil {
		return 0, fault.Interruptedf("interrupted: run %s keeps what the check found", p.Run.ID)
	}
	return len(names), nil
}

// unchangedNames returns the names of the identical cases that are in the golden.
func unchangedNames(run *pastrun.Run, base *golden.Store) (names []string, err error) {
	differs, err := state.NotIdentical(run.State)
	if err != nil {
		return nil, err
	}
	for l, err := range run.State.ReadLines() {
		if err != nil {
			return nil, err
		}
		if _, known := base.OutcomeDigest(string(l.Name)); known && !differs[string(l.Name)] {
			names = append(names, string(l.Name))
		}
	}
	return names, nil
}

// scanText lists the causes with what is known of their rules.
func scanText(run string, found *cause.Found, of int) string {
	w := &strings.Builder{}
	for _, c := range found.Causes {
		if text := report.RuleSentence(c.Rule); text != "" {
			fmt.Fprintf(w, "%-4s %s\n     %s\n", c.ID, c.Name, text)
			if text := report.ForgottenSentence(c.Rule); text != "" {
				fmt.Fprintf(w, "     %s: muster show %s lists them\n", text, c.ID)
			}
		}
	}
	fmt.Fprintf(w, "run %s: %s, with %s read\n", run, report.CountCauses(found.Causes), readable.Count(of, "unchanged output"))
	return w.String()
}

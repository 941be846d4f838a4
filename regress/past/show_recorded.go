package past

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/analyse"
	"muster/regress/internal/console"
	"muster/regress/internal/content"
	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/pastrun"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

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

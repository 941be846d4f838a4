package past

import (
	"context"
	"maps"
	"slices"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/fault"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/place"
	"muster/regress/internal/state"
)

// RerunOptions returns the last run's command, such as "check", and its options: for all cases, or only for
// those that were not identical. It takes from o the state folder, and the options that are not kept
// with a run.
func RerunOptions(o regress.Options, failed bool) (again regress.Options, command string, err error) {
	last, err := state.Open(o.Store.State).Last(func(*state.Run) bool { return true }, "run to do again yet: muster record makes the first one, and muster check the next")
	if err != nil {
		return again, "", err
	}
	again, err = job.Decode(last)
	if err != nil {
		return again, "", err
	}
	job.OverrideKept(&again, &o)
	again.Select.Only = nil // it belongs to the last run, not to its options
	if failed {
		if err := selectFailed(&again, last); err != nil {
			return again, "", err
		}
	}
	return again, last.Command, nil
}

// selectFailed restricts the options to the cases that were not identical in a run.
func selectFailed(o *regress.Options, r *state.Run) (err error) {
	if !state.IsCheck(r) {
		return fault.Inputf("the last run, %s, was a %s: --failed needs a check", r.ID, r.Command)
	}
	if !r.Finished {
		return fault.Inputf("the last run, %s, did not finish: go on with the same %s and --resume first, or leave out --failed", r.ID, r.Command)
	}
	names, err := state.NotIdentical(r)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fault.Emptyf("run %s had nothing that was not identical", r.ID)
	}
	o.Select.Only = slices.Sorted(maps.Keys(names))
	return nil
}

// reproduceCase returns the shell line that runs one case of a past run in a folder
// that stays. It names every option in which that run differs from what the
// line would take from the golden, or by default; what is configured is kept
// from it.
func reproduceCase(ctx context.Context, o *regress.Options, h host.Host, raw, keep string, words []string, configured bool) string {
	without := completeRun(ctx, o, h, words)
	args := []string{"muster", job.RunCommand, name.Typed(raw), o.Corpus.Path, "--keep", keep}
	args = append(args, job.ListEngineArgs(&o.Remote, configured)...)
	if without.Store.Golden != regress.GoldenDefault {
		args = append(args, "--golden", without.Store.Golden)
	}
	for _, setting := range job.OutcomeSettings() {
		if setting.Scope != job.OfVerdict && setting.Scope != job.OfIdentity && setting.Text(o) != setting.Text(&without) {
			args = append(args, setting.Args(o)...)
		}
	}
	return name.QuoteAll(append(append(args, "--"), words...))
}

// completeRun returns the options of `muster run` if only the command is given: those of the
// golden. If the golden has a list that o lacks, they are empty, and the line names no golden.
func completeRun(ctx context.Context, o *regress.Options, h host.Host, words []string) regress.Options {
	t := regress.Options{Command: regress.Command{Words: words}, Store: o.Store}
	recorded, err := place.Recorded(ctx, t.Store.Golden, place.NewOptions(t.Store.State, h.Files))
	if recorded != nil {
		job.TakeRecorded(&t, *recorded)
	}
	for _, lists := range [][2][]string{
		{t.Corpus.Headers, o.Corpus.Headers}, {t.Corpus.Context, o.Corpus.Context},
		{t.Command.Env, o.Command.Env}, {t.Command.PassEnv, o.Command.PassEnv},
	} {
		if err != nil || len(lists[0]) > 0 && len(lists[1]) == 0 {
			t = regress.Options{} // --golden '' means no golden
			break
		}
	}
	job.CompleteLimits(&t.Limits)
	return t
}

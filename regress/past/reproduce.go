package past

import (
	"context"

	"muster/regress"
	"muster/regress/host"
	"muster/regress/internal/job"
	"muster/regress/internal/name"
	"muster/regress/internal/place"
)

// reproduceCase returns the shell line that runs one case of a past run in a folder
// that stays. It names every option in which that run differs from what the
// line would take from the golden, or by default; what is configured is kept
// from it.
func reproduceCase(ctx context.Context, o *regress.Options, h host.Host, raw, keep string, words []string, configured bool) string {
	without := completeRun(ctx, o, h, words)
	args := []string{"muster", job.RunCommand, name.Typed(raw), o.Corpus.Path, "--keep", keep}
	if configured {
		args = append(args, "--config", "")
	}
	if without.Store.Golden != regress.GoldenDefault {
		args = append(args, "--golden", without.Store.Golden)
	}
	for _, setting := range job.OutcomeSettings() {
		if setting.Scope != job.OfVerdict && setting.Scope != job.OfIdentity && setting.Text(o) != setting.Text(&without) {
			args = append(args, setting.Args(o)...)
		}
	}
	if o.Limits.Grace != regress.GraceDefault {
		args = append(args, "--grace", o.Limits.Grace.String())
	}
	args = append(args, job.ListRemoteArgs(&o.Remote)...)
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

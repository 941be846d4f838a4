package regress

import (
	"context"
	"muster/regress/internal/opt"
	"slices"

	"muster/regress/host"
	"muster/regress/internal/golden"
	"muster/regress/internal/place"
)

// completeFromGolden fills in what was not given from the golden, if there is
// one, and one is named.
func completeFromGolden(ctx context.Context, o *opt.Options, h host.Host) error {
	base, err := place.OpenIfAny(ctx, o.Store.Golden, placeOptions(o, h))
	if err != nil || base == nil {
		return err
	}
	completeAsRecorded(o, base.Meta())
	return base.Close()
}

// completeAsRecorded fills in what was not given from the golden: a plain `muster check`
// does again what was recorded. How the command is started goes with the
// command: another one may not want a shell.
func completeAsRecorded(o *opt.Options, m golden.Meta) {
	if o.Corpus.Path == "" && m.CorpusPath != "-" {
		o.Corpus.Path = m.CorpusPath
	}
	otherCommand := len(o.Command.Words) > 0 || len(o.Command.ByGlob) > 0
	for _, setting := range outcomeSettings() {
		if setting.scope != ofCommand || !otherCommand || startsAsRecorded(&o.Command, setting.name(), m) {
			setting.complete(o, m.Flags[setting.name()])
		}
	}
	if otherCommand {
		return
	}
	for _, c := range m.Command {
		if c.Glob == "" {
			o.Command.Words = slices.Clone(c.Args)
		} else {
			o.Command.ByGlob = append(o.Command.ByGlob, opt.GlobCommand{Glob: c.Glob, Words: slices.Clone(c.Args)})
		}
	}
}

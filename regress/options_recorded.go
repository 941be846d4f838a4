package regress

import (
	"context"
	"errors"
	"os"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/golden"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// noGolden words the failure to open a golden.
func noGolden(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fault.Inputf("no golden %s: make one with muster record, or name it with --golden", path)
	}
	return err
}

// noGoldenYet is noGolden, and names an interrupted record of the golden.
func (o *Options) noGoldenYet(err error) error {
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	last, e := state.Open(o.Store.State).Unfinished(report.RecordCommand)
	if e != nil || last == nil || last.Identity["--golden"] != o.Store.Golden {
		return noGolden(o.Store.Golden, err)
	}
	return fault.Inputf("no golden %s yet: record %s was interrupted: go on with the same muster record and --resume", o.Store.Golden, last.ID)
}

// goldenIfAny opens the golden. It returns nil where none is named, or none exists.
func (o *Options) goldenIfAny(ctx context.Context) (*openedGolden, error) {
	if o.Store.Golden == "" {
		return nil, nil
	}
	base, err := o.openGolden(ctx, o.Store.Golden)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return base, err
}

// completeFromGolden fills in what was not given from the golden, if there is
// one, and one is named.
func (o *Options) completeFromGolden(ctx context.Context) error {
	base, err := o.goldenIfAny(ctx)
	if err != nil || base == nil {
		return err
	}
	o.asRecorded(base.Meta())
	return base.Close()
}

// asRecorded fills in what was not given from the golden: a plain `muster check`
// does again what was recorded. How the command is started goes with the
// command: another one may not want a shell.
func (o *Options) asRecorded(m golden.Meta) {
	if o.Corpus.Path == "" && m.CorpusPath != "-" {
		o.Corpus.Path = m.CorpusPath
	}
	otherCommand := len(o.Command.Words) > 0 || len(o.Command.ByGlob) > 0
	for _, setting := range outcomeSettings() {
		if setting.scope != ofCommand || !otherCommand || o.Command.startsAsRecorded(setting.name(), m) {
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
			o.Command.ByGlob = append(o.Command.ByGlob, GlobCommand{c.Glob, slices.Clone(c.Args)})
		}
	}
}

package job

import (
	"slices"

	"muster/regress"
	"muster/regress/internal/golden"
)

// TakeRecorded fills in what was not given from the golden: a plain `muster check`
// does again what was recorded. How the command is started goes with the
// command: another one may not want a shell.
func TakeRecorded(o *regress.Options, m golden.Meta) {
	if o.Corpus.Path == "" && m.CorpusPath != "-" {
		o.Corpus.Path = m.CorpusPath
	}
	otherCommand := len(o.Command.Words) > 0 || len(o.Command.ByGlob) > 0
	for _, setting := range OutcomeSettings() {
		if setting.Scope != OfCommand || !otherCommand || startsAsRecorded(&o.Command, setting.Name(), m) {
			setting.Complete(o, m.Flags[setting.Name()])
		}
	}
	if otherCommand {
		return
	}
	for _, c := range m.Command {
		if c.Glob == "" {
			o.Command.Words = slices.Clone(c.Args)
		} else {
			o.Command.ByGlob = append(o.Command.ByGlob, regress.GlobCommand{Glob: c.Glob, Words: slices.Clone(c.Args)})
		}
	}
}

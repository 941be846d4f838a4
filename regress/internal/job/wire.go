package job

import (
	"encoding/json"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/state"
)

// Encode returns the options as run.json keeps them, version 1. The names of the fields are keys.
// Reports, secrets, what belongs to this program, and flags that override a past run are not kept:
// these fields of regress.Options have the tag "-".
func Encode(o *regress.Options) (json.RawMessage, error) { return state.Encode(*o) }

// Decode returns the options of a past run.
func Decode(r *state.Run) (regress.Options, error) {
	o, err := state.Decode[regress.Options](r.Options)
	if err != nil {
		return regress.Options{}, fault.Inputf("%s is damaged: its options of run %s cannot be read; make a new run with muster %s", r.File("run.json"), r.ID, r.Command)
	}
	return o, nil
}

// OverrideKept replaces options of a past run by those of the command that reads or repeats the
// run: all that are not kept, the present name of the state folder, and the given options of an
// engine. The result resumes and reuses nothing.
func OverrideKept(o, command *regress.Options) {
	o.Report, o.Helper = command.Report, command.Helper
	o.Version, o.Configured = command.Version, command.Configured
	o.Store.State, o.Store.Resume, o.Store.Reuse, o.Store.RemoteCache, o.Store.ForkServer = command.Store.State, false, false, "", false
	o.Remote = chooseEngine(command.Remote, o.Remote)
}

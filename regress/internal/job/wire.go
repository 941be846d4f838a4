package job

import (
	"encoding/json"
	"time"

	"muster/regress"
	"muster/regress/internal/fault"
	"muster/regress/internal/state"
)

// A keptOptions is the form of options in run.json, version 1. The names of all fields are keys.
// Reports, secrets, and what belongs to this program are not kept.
type keptOptions struct {
	Corpus  regress.Corpus
	Command regress.Command
	Select  regress.Selection
	Limits  regress.Limits
	Judge   regress.CompareOptions
	Store   regress.Store
	Remote  keptRemote
}

// keptRemote has no secrets, and no flags that override a past run.
type keptRemote struct {
	URL           string
	Instance      string
	Inputs        []string
	Bundle        bool
	Outputs       []string
	Jobs          int
	Platform      []string
	Preflight     []string
	Priority      int
	Wait          time.Duration
	CA, Cert, Key string
}

// Encode returns the options as run.json keeps them.
func Encode(o *regress.Options) (json.RawMessage, error) {
	r := &o.Remote
	return state.Encode(keptOptions{
		o.Corpus, o.Command, o.Select, o.Limits, o.Judge, o.Store,
		keptRemote{r.URL, r.Instance, r.Inputs, r.Bundle, r.Outputs, r.Jobs, r.Platform, r.Preflight, r.Priority, r.Wait, r.CA, r.Cert, r.Key},
	})
}

// Decode returns the options of a past run.
func Decode(r *state.Run) (regress.Options, error) {
	k, err := state.Decode[keptOptions](r.Options)
	if err != nil {
		return regress.Options{}, fault.Inputf("%s is damaged: its options of run %s cannot be read; make a new run with muster %s", r.File("run.json"), r.ID, r.Command)
	}
	e := &k.Remote
	return regress.Options{
		Corpus: k.Corpus, Command: k.Command, Select: k.Select, Limits: k.Limits, Judge: k.Judge, Store: k.Store,
		Remote: regress.Remote{
			URL: e.URL, Instance: e.Instance, Inputs: e.Inputs, Bundle: e.Bundle, Outputs: e.Outputs, Jobs: e.Jobs, Platform: e.Platform,
			Preflight: e.Preflight, Priority: e.Priority, Wait: e.Wait, CA: e.CA, Cert: e.Cert, Key: e.Key,
		},
	}, nil
}

// OverrideKept replaces options of a past run by those of the command that reads or repeats the
// run: all that are not kept, the present name of the state folder, and the given options of an
// engine. The result resumes and reuses nothing.
func OverrideKept(o, command *regress.Options) {
	o.Report, o.Helper = command.Report, command.Helper
	o.Version, o.Configured = command.Version, command.Configured
	o.Store.State, o.Store.Resume, o.Store.Reuse, o.Store.RemoteCache, o.Store.ForkServer = command.Store.State, false, false, "", false
	o.Remote = overrideRemote(command.Remote, o.Remote)
}

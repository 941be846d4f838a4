package regress

import (
	"encoding/json"
	"muster/regress/internal/opt"
	"reflect"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/report"
	"muster/regress/internal/state"
)

// encodeOptions returns the options as they are kept with a run. Arguments, names and
// paths are bytes and JSON is not: every string stands there in its printed
// form.
func encodeOptions(o *opt.Options) (json.RawMessage, error) {
	kept := *o
	err := eachString(reflect.ValueOf(&kept).Elem(), func(s string) (string, error) { return name.Print(s), nil })
	if err != nil {
		return nil, err
	}
	return marshal(kept)
}

// optionsOf returns the options that a run had.
func optionsOf(r *state.Run) (o opt.Options, err error) {
	if err = json.Unmarshal(r.Options, &o); err == nil {
		err = eachString(reflect.ValueOf(&o).Elem(), name.Parse)
	}
	if err != nil {
		return o, fault.Inputf("%s, what run %s was given, is damaged: %w: make a new run with muster %s", r.File("run.json"), r.ID, err, r.Command)
	}
	return o, nil
}

// overrideKept replaces options of a past run by those of the command that reads or repeats the
// run: the fields with a tag "-", which are not kept, the present name of the state folder, and the
// given options of an engine. The result resumes nothing.
func overrideKept(o, command *opt.Options) {
	o.Report, o.Helper = command.Report, command.Helper
	o.Version, o.Configured = command.Version, command.Configured
	o.Store.State, o.Store.Resume = command.Store.State, false
	o.Remote = overrideRemote(command.Remote, o.Remote)
}

// eachString puts what f makes of it in the place of every string in v, whose
// slices are copied first.
func eachString(v reflect.Value, f func(string) (string, error)) error {
	switch v.Kind() {
	case reflect.String:
		s, err := f(v.String())
		if err == nil {
			v.SetString(s)
		}
		return err
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Field(i).CanSet() {
				continue
			}
			if err := eachString(v.Field(i), f); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		for i := range own.Len() {
			if err := eachString(own.Index(i), f); err != nil {
				return err
			}
		}
	}
	return nil
}

// kept is what stays of a run's summary, for the list of runs.
type kept struct {
	Interrupted  bool        `json:"interrupted"`
	Cases        int         `json:"cases"`
	NotRun       int         `json:"not_run"`
	NotIdentical int         `json:"not_identical"`
	Recorded     int         `json:"recorded"`
	Failing      int         `json:"failing,omitempty"` // cases of a record that did not exit with 0
	Engine       *keptEngine `json:"engine,omitempty"`  // nil of a run on this machine

	// What a merge of runs needs beyond their results.
	ToolChanged []string       `json:"tool_changed,omitempty"`
	Sources     report.Sources `json:"sources,omitzero"`
	Settings    []string       `json:"settings,omitempty"`
	Selection   string         `json:"selection,omitempty"`
	NotSampled  int            `json:"not_in_sample,omitempty"`
}

// keptEngine counts the runs on an engine.
type keptEngine struct {
	Cached   int `json:"cached"`
	Executed int `json:"executed"`
}

func keptOf(s report.Summary) kept {
	k := kept{
		Interrupted: s.Interrupted, Cases: s.Cases, NotRun: s.NotRun, NotIdentical: s.Verdicts.NotIdentical(), Recorded: s.Recorded, Failing: s.Endings.Failing(),
		ToolChanged: s.ToolChanged, Sources: s.Sources, Settings: s.Settings, Selection: s.Selection, NotSampled: s.NotSampled,
	}
	if r := s.Engine; r != nil {
		k.Engine = &keptEngine{r.Cached, r.Executed}
	}
	return k
}

// encode returns what is kept as JSON, with every string in its printed form.
func (k kept) encode() (json.RawMessage, error) {
	err := eachString(reflect.ValueOf(&k).Elem(), func(s string) (string, error) { return name.Print(s), nil })
	if err != nil {
		return nil, err
	}
	return marshal(k)
}

// marshal encodes what is kept of a run.
func marshal(v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fault.Environmentf("keep the run: %w", err)
	}
	return text, nil
}

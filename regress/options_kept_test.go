package regress

import (
	"reflect"
	"testing"

	"muster/regress/internal/state"
)

// What is kept of the options is what they were, byte by byte, and they
// themselves stay as they are.
func TestOptionsAreKept(t *testing.T) {
	o := Options{
		Corpus:  Corpus{Path: "caf\xe9.tar", Headers: []string{}, Context: nil},
		Command: Command{Words: []string{"cc", "-DX=\xff%41\n", ""}, ByGlob: []GlobCommand{{Glob: "*.\xfe", Words: []string{"as"}}}, Env: []string{"A=\x80"}},
		Limits:  Limits{Jobs: 3, Timeout: 5},
		Store:   Store{Golden: "100%.golden", State: ".muster"},
	}
	text, err := encodeOptions(&o)
	if err != nil {
		t.Fatal(err)
	}
	back, err := optionsOf(&state.Run{Info: state.Info{Options: text}})
	if err != nil || !reflect.DeepEqual(back, o) {
		t.Errorf("%+v, %v\nnot %+v", back, err, o)
	}
	if o.Command.Words[1] != "-DX=\xff%41\n" {
		t.Errorf("changed to %q", o.Command.Words[1])
	}
}

// What is not kept comes from the command that looks at a run again: every field with a
// tag "-", and none that has another.
func TestWhatIsNotKeptIsTaken(t *testing.T) {
	command := Options{
		Corpus: Corpus{Path: "other"}, Limits: Limits{Jobs: 7},
		Report: Report{Quiet: true}, Helper: []string{"x"}, Version: "x", Configured: true,
		Store: Store{Golden: "other", State: "x"}, Remote: Remote{Headers: []string{"x=y"}, NoEngine: true, FlagsGiven: []string{"--platform"}, NoBundle: true, Fallback: true, Token: "y", PlainToken: true},
	}
	o := Options{Corpus: Corpus{Path: "src"}, Limits: Limits{Jobs: 3}, Store: Store{Golden: "g", State: "y", Resume: true}}
	want := o
	want.Store.State, want.Store.Resume = "x", false
	copyUnkept(t, reflect.ValueOf(&want).Elem(), reflect.ValueOf(&command).Elem())
	if overrideKept(&o, &command); !reflect.DeepEqual(o, want) {
		t.Errorf("%+v\nnot %+v", o, want)
	}
}

// copyUnkept copies the fields with a tag "-", however deep; none of them may be zero.
func copyUnkept(t *testing.T, to, from reflect.Value) {
	for i := range to.NumField() {
		f := to.Type().Field(i)
		switch {
		case f.Tag.Get("json") == "-":
			if from.Field(i).IsZero() {
				t.Errorf("%s is not kept, and this test sets no value for it", f.Name)
			}
			to.Field(i).Set(from.Field(i))
		case f.Type.Kind() == reflect.Struct:
			copyUnkept(t, to.Field(i), from.Field(i))
		}
	}
}

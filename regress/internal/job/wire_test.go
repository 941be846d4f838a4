package job

import (
	"os"
	"reflect"
	"strconv"
	"testing"

	"muster/regress"
	"muster/regress/internal/state"
)

// What is kept of the options is what they were, byte by byte, and they
// themselves stay as they are.
func TestOptionsAreKept(t *testing.T) {
	o := regress.Options{
		Corpus:  regress.Corpus{Path: "caf\xe9.tar", Headers: []string{}, Context: nil},
		Command: regress.Command{Words: []string{"cc", "-DX=\xff%41\n", ""}, ByGlob: []regress.GlobCommand{{Glob: "*.\xfe", Words: []string{"as"}}}, Env: []string{"A=\x80"}},
		Limits:  regress.Limits{Jobs: 3, Timeout: 5},
		Store:   regress.Store{Golden: "100%.golden", State: ".muster"},
	}
	text, err := Encode(&o)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(&state.Run{Info: state.Info{Options: text}})
	if err != nil || !reflect.DeepEqual(back, o) {
		t.Errorf("%+v, %v\nnot %+v", back, err, o)
	}
	if o.Command.Words[1] != "-DX=\xff%41\n" {
		t.Errorf("changed to %q", o.Command.Words[1])
	}
}

// TestWireFormat: run.json has the same bytes for the same options as in every program before, but for
// options that are new.
func TestWireFormat(t *testing.T) {
	o := full()
	text, err := Encode(&o)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/options.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text) + "\n"; got != string(want) {
		t.Errorf("run.json has\n%swant\n%s", got, want)
	}
}

// TestOverrideKept: an option that run.json does not keep comes from the present command.
func TestOverrideKept(t *testing.T) {
	o := full()
	text, err := Encode(&o)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(&state.Run{Info: state.Info{Options: text}})
	if err != nil {
		t.Fatal(err)
	}
	command := o
	command.Remote.Given = false
	o.Remote.Given, o.Store.Resume, o.Store.Reuse, o.Store.ForkServer, o.Store.RemoteCache = false, false, false, false, ""
	if OverrideKept(&back, &command); !reflect.DeepEqual(back, o) {
		t.Errorf("%+v\nnot %+v", back, o)
	}
	past := regress.Options{Corpus: regress.Corpus{Path: "src"}, Limits: regress.Limits{Jobs: 3}, Store: regress.Store{Golden: "g", State: "y", Resume: true}}
	if OverrideKept(&past, &command); past.Corpus.Path != "src" || past.Limits.Jobs != 3 || past.Store.Golden != "g" {
		t.Errorf("options of the past run are replaced: %+v", past)
	}
}

// full returns options with a value in every field.
func full() (o regress.Options) {
	n := 0
	fill(reflect.ValueOf(&o).Elem(), &n)
	return o
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString("%\xff" + strconv.Itoa(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	}
}

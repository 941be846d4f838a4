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
		Command: Command{Words: []string{"cc", "-DX=\xff%41\n", ""}, ByGlob: []GlobCommand{{"*.\xfe", []string{"as"}}}, Env: []string{"A=\x80"}},
		Limits:  Limits{Jobs: 3, Timeout: 5},
		Store:   Store{Golden: "100%.golden", State: ".muster"},
	}
	text, err := o.encode()
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

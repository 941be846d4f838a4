package job

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/state"
)

// What a run keeps of its engine has no secrets in it, and what is given later goes first.
func TestRemoteIsKept(t *testing.T) {
	o := regress.Options{Remote: regress.Remote{URL: "grpc://a:1", Headers: []string{"key=secret"}, Inputs: []string{"tool"}, Bundle: true, Jobs: 3, Platform: []string{"OS=linux"}}}
	text, err := Encode(&o)
	if err != nil || strings.Contains(string(text), "secret") {
		t.Fatalf("%s, %v", text, err)
	}
	back, err := Decode(&state.Run{Info: state.Info{Options: text}})
	if err != nil {
		t.Fatal(err)
	}
	given := regress.Remote{URL: "grpc://b:2", Given: true, Headers: []string{"key=other"}, Platform: []string{"OS=x"}}
	if now := chooseEngine(given, back.Remote); !reflect.DeepEqual(now, given) {
		t.Errorf("the engine that is given now is %+v", now)
	}
	want := regress.Remote{URL: "grpc://a:1", Headers: []string{"key=other"}, Inputs: []string{"tool"}, Bundle: true, Jobs: 3, Platform: []string{"OS=linux"}}
	given.Given = false // the settings file has it
	if now := chooseEngine(given, back.Remote); !reflect.DeepEqual(now, want) {
		t.Errorf("the engine of the past run is %+v", now)
	}
	if here := chooseEngine(regress.Remote{Given: true}, back.Remote); here.URL != "" {
		t.Errorf("not on this machine: %+v", here)
	}
}

func TestRemoteChecked(t *testing.T) {
	for text, r := range map[string]regress.Remote{
		`[engine] platform "=x"`:       {Platform: []string{"=x"}},
		"[engine] output /a":           {Outputs: []string{"/a"}},
		"[engine] output ./../a":       {Outputs: []string{"x", "./../a"}},
		"[engine] output out/[a":       {Outputs: []string{"{stem}.s", "out/[a"}},
		"[engine] jobs 1000000":        {Jobs: 1e6},
		"[engine] priority 9999999999": {Priority: 9999999999},
		"--engine farm: ":              {Name: "farm"},
	} {
		o := sound()
		o.Remote = r
		if err := check(&o, "record"); regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), text) {
			t.Errorf("%s is met by: %v", text, err)
		}
	}
}

// A header is refused before anything is sent, and its value shown nowhere.
func TestHeadersChecked(t *testing.T) {
	for _, header := range []string{
		"secret", "=secret", "Authorization: Bearer secret", "Authorization: Bearer secret==", "a key=secret", "key=secret\n", "key=secr\u00e9t",
	} {
		o := sound()
		o.Remote.Headers = []string{header}
		if err := check(&o, "record"); regress.ClassOf(err) != regress.Input || strings.Contains(err.Error(), "ecr") && !strings.Contains(err.Error(), "may be secret") || strings.Contains(err.Error(), "Bearer") {
			t.Errorf("%q: %v", header, err)
		}
	}
	o := sound()
	o.Remote.Headers = []string{"X-Api.Key_1=a b==", "x-bin=\xff\n"}
	if err := check(&o, "record"); err != nil {
		t.Error(err)
	}
}

// The flags that reproduce a case name its engine, and have no secrets.
func TestEngineArgs(t *testing.T) {
	r := regress.Remote{URL: "grpc://a:1", Settings: "ci.toml", Name: "farm", Headers: []string{"key=secret"}}
	if got, want := ListEngineArgs(&r, true), []string{"--config", "ci.toml", "--engine", "farm", "--remote", "grpc://a:1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got, want := ListEngineArgs(&regress.Remote{Name: "farm"}, true), []string{"--config", ""}; !slices.Equal(got, want) {
		t.Errorf("on this machine: %q", got)
	}
}

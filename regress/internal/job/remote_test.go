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
	o := regress.Options{Remote: regress.Remote{URL: "grpc://a:1", Headers: []string{"key=secret"}, Inputs: []string{"tool"}, Bundle: true, Fallback: true, Jobs: 3, Platform: []string{"OS=linux"}}}
	text, err := Encode(&o)
	if err != nil || strings.Contains(string(text), "secret") {
		t.Fatalf("%s, %v", text, err)
	}
	back, err := Decode(&state.Run{Info: state.Info{Options: text}})
	if err != nil {
		t.Fatal(err)
	}
	now := overrideRemote(regress.Remote{URL: "grpc://b:2", Headers: []string{"key=other"}, Platform: []string{}}, back.Remote)
	want := regress.Remote{URL: "grpc://b:2", Headers: []string{"key=other"}, Inputs: []string{"tool"}, Bundle: true, Jobs: 3, Platform: []string{}}
	if !reflect.DeepEqual(now, want) {
		t.Errorf("%+v, want %+v", now, want)
	}
	if again := overrideRemote((regress.Remote{NoBundle: true, Fallback: true}), back.Remote); again.Bundle || !again.Fallback {
		t.Errorf("what is said now does not go first: %+v", again)
	}
	if flags := []string{"--platform"}; !slices.Equal(overrideRemote((regress.Remote{FlagsGiven: flags}), back.Remote).FlagsGiven, flags) {
		t.Error("what flags are given is not known of a run done again")
	}
	if here := overrideRemote((regress.Remote{NoEngine: true}), back.Remote); here.URL != "" {
		t.Errorf("not on this machine: %+v", here)
	}
}

func TestRemoteChecked(t *testing.T) {
	for flag, r := range map[string]regress.Remote{
		`--platform "=x"`:              {Platform: []string{"=x"}},
		"--remote-output /a":           {Outputs: []string{"/a"}},
		"--remote-output ./../a":       {Outputs: []string{"x", "./../a"}},
		"--remote-output out/[a":       {Outputs: []string{"{stem}.s", "out/[a"}},
		"--remote-jobs 1000000":        {Jobs: 1e6},
		"--remote-priority 9999999999": {Priority: 9999999999},
	} {
		o := sound()
		o.Remote = r
		if err := check(&o, "record"); regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), flag[:strings.IndexByte(flag, ' ')]) {
			t.Errorf("%s is met by: %v", flag, err)
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
		if err := check(&o, "record"); regress.ClassOf(err) != regress.Input || strings.Contains(err.Error(), "ecr") && !strings.Contains(err.Error(), "it may be secret") || strings.Contains(err.Error(), "Bearer") {
			t.Errorf("%q: %v", header, err)
		}
	}
	o := sound()
	o.Remote.Headers = []string{"X-Api.Key_1=a b==", "x-bin=\xff\n"}
	if err := check(&o, "record"); err != nil {
		t.Error(err)
	}
}

// The flags that reproduce a case have no secrets.
func TestRemoteArgs(t *testing.T) {
	r := regress.Remote{URL: "grpc://a:1", Preflight: []string{"cc", "-v x"}, Inputs: []string{"i"}, Headers: []string{"key=secret"}}
	if got, want := ListRemoteArgs(&r), []string{"--remote", "grpc://a:1", "--preflight", "cc '-v x'", "--remote-input", "i"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

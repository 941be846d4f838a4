package main

import (
	"cmp"
	"errors"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"muster/regress"
)

// configured returns the options from flags, environment and a file.
func configured(t *testing.T, file, profile string, environment map[string]string, args ...string) (regress.Options, error) {
	t.Helper()
	for name, value := range environment {
		t.Setenv(name, value)
	}
	var o regress.Options
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, add := range []flagGroup{corpusFlags, selectFlags, limitFlags, comparisonFlags, checkFlags, remoteFlags} {
		add(f, &o)
	}
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	c, err := parseConfig("muster.toml", []byte(file), profile)
	if err != nil {
		return o, err
	}
	c.layers = append([]layer{environmentLayer(settings())}, c.layers...)
	return o, c.use(f, &o)
}

// Every setting in the file that init writes can be used by removing its comment.
func TestProposedSettings(t *testing.T) {
	setting := regexp.MustCompile(`(?m)^# ([a-z-]+ = |\[)`)
	if n := len(setting.FindAllString(configTemplate, -1)); n < 10 {
		t.Errorf("%d settings in comments", n)
	}
	o, err := configured(t, setting.ReplaceAllString(configTemplate, "$1"), "ci", nil)
	if err != nil || o.Corpus.Path == "" || len(o.Command.Words) != 2 || len(o.Command.ByGlob) != 1 || o.Select.FailFast != 20 {
		t.Errorf("%+v, %v", o, err)
	}
}

// An engine is described by one table, and its address is that of --remote if there is one.
func TestEngines(t *testing.T) {
	const file = "[engine]\nurl = 'grpc://usual'\nplatform = ['OS=linux']\n[engine.farm]\nurl = 'grpc://farm'\njobs = 7\nwait = '2m'\npreflight = \"cc '-v x'\"\n[profile.p]\nengine = 'farm'\n"
	usual := regress.Remote{URL: "grpc://usual", Platform: []string{"OS=linux"}}
	farm := regress.Remote{URL: "grpc://farm", Given: true, Name: "farm", Jobs: 7, Wait: 2 * time.Minute, Preflight: []string{"cc", "-v x"}}
	for _, c := range []struct {
		profile     string
		args        []string
		environment map[string]string // stays for what follows
		url         string            // differs from that of the table
		want        regress.Remote
	}{
		{"", nil, nil, "", usual},
		{"p", nil, nil, "", farm},
		{"", []string{"--engine", "farm"}, nil, "", farm},
		{"p", []string{"--remote", "grpc://mine"}, nil, "grpc://mine", farm},
		{"", nil, map[string]string{"MUSTER_ENGINE": "farm"}, "", farm},
	} {
		o, err := configured(t, file, c.profile, c.environment, c.args...)
		if c.want.URL = cmp.Or(c.url, c.want.URL); err != nil || !reflect.DeepEqual(o.Remote, c.want) {
			t.Errorf("%+v: %+v, %v", c, o.Remote, err)
		}
	}
	if o, err := configured(t, file, "", nil, "--remote", ""); err != nil || o.Remote.URL != "" || o.Remote.Name != "" || !o.Remote.Given {
		t.Errorf("not on this machine: %+v, %v", o.Remote, err)
	}
}

// Any file is either accepted or refused as a mistake of the user. An accepted file is applied,
// or refused in the same way.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"", "jobs = 1", "jobs = [1]", "headers = ['a', 2, true, 1.5]", "command = ['a', 'b']", "command = \"a 'b\"",
		"[[commands]]\nglob = '*'\ncommand = 'x'", "commands = 1", "commands = [1]", "profile = 1", "[profile]\nx = 1",
		"[profile.p]\njobs = 3\ncorpus = 'c'\ncommand = []", "corpus = 1979-05-27", "a.b.c = {d = 'e'}", "[engine]\nurl = 'grpc://a'\n[engine.p]\nwait = 3", "engine = 1", "jobs = 1\njobs = 2", "\xff",
	} {
		f.Add(text, "p")
	}
	f.Fuzz(func(t *testing.T, text, profile string) {
		c, err := parseConfig("muster.toml", []byte(text), profile)
		if err == nil {
			var o regress.Options
			flags := pflag.NewFlagSet("fuzz", pflag.ContinueOnError)
			for _, add := range []flagGroup{corpusFlags, commandFlags, selectFlags, limitFlags, checkFlags, reportFlags, remoteFlags} {
				add(flags, &o)
			}
			err = c.use(flags, &o)
		}
		var usage *usageError
		if err != nil && !errors.As(err, &usage) {
			t.Errorf("%q: %v is no usage error", text, err)
		}
	})
}

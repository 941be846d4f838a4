package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"muster/regress"
	"muster/regress/propose"
)

// configured returns the options from flags, environment and a file.
func configured(t *testing.T, file, profile string, environment map[string]string, args ...string) (regress.Options, error) {
	t.Helper()
	for name, value := range environment {
		t.Setenv(name, value)
	}
	var o regress.Options
	f := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, add := range []flagGroup{corpusFlags, selectFlags, limitFlags, comparisonFlags, checkFlags} {
		add(f, &o)
	}
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	layers, err := parseConfig("muster.toml", []byte(file), profile)
	if err != nil {
		return o, err
	}
	return o, use(f, append([]layer{environmentLayer(settings())}, layers...), &o)
}

// Every setting in the file that init writes can be used by removing its comment.
func TestProposedSettings(t *testing.T) {
	setting := regexp.MustCompile(`(?m)^# ([a-z-]+ = |\[)`)
	for _, p := range []propose.Proposal{
		{},
		{Corpora: []propose.Corpus{{Path: `a "b" \ü.tar`}, {Path: "src", Extension: ".c", Cases: 3}}},
		{Corpora: []propose.Corpus{{Path: "src", Extension: `.c"`, Cases: 3, Mixed: true}}, Headers: []string{"*.h", "HDR_*"}},
	} {
		if o, err := configured(t, p.Text(), "", nil); err != nil || len(p.Corpora) > 0 && o.Corpus.Path != p.Corpora[0].Path {
			t.Errorf("%+v: the corpus is %q, %v", p, o.Corpus.Path, err)
		}
		if n := len(setting.FindAllString(p.Text(), -1)); n < 10 {
			t.Errorf("%d settings in comments", n)
		}
		o, err := configured(t, setting.ReplaceAllString(p.Text(), "$1"), "ci", nil)
		if err != nil || len(o.Command.Words) != 2 || len(o.Command.ByGlob) != 1 || o.Select.FailFast != 20 {
			t.Errorf("%+v: %+v, %v", p, o, err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"jobs", "timeout", "headers", "fail-fast", "failed-first"}
	for name, want := range map[string]string{
		"job": "jobs", "Jobs": "jobs", "tiemout": "timeout", "time-out": "timeout", "header": "headers",
		"failfast": "fail-fast", "fail_fast": "fail-fast", "failed": "failed-first", "colour": "", "": "", "x": "",
	} {
		got := suggest(name, known)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q suggests %q, want %q", name, got, want)
		}
	}
	if got := suggest("x", nil); got != "" {
		t.Errorf("nothing known suggests %q", got)
	}
}

// Any file is either accepted or refused as a mistake of the user. An accepted file is applied,
// or refused in the same way.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"", "jobs = 1", "jobs = [1]", "headers = ['a', 2, true, 1.5]", "command = ['a', 'b']", "command = \"a 'b\"",
		"[[commands]]\nglob = '*'\ncommand = 'x'", "commands = 1", "commands = [1]", "profile = 1", "[profile]\nx = 1",
		"[profile.p]\njobs = 3\ncorpus = 'c'\ncommand = []", "corpus = 1979-05-27", "a.b.c = {d = 'e'}", "jobs = 1\njobs = 2", "\xff",
	} {
		f.Add(text, "p")
	}
	f.Fuzz(func(t *testing.T, text, profile string) {
		layers, err := parseConfig("muster.toml", []byte(text), profile)
		if err == nil {
			var o regress.Options
			flags := pflag.NewFlagSet("fuzz", pflag.ContinueOnError)
			for _, add := range []flagGroup{corpusFlags, commandFlags, selectFlags, limitFlags, checkFlags, reportFlags} {
				add(flags, &o)
			}
			err = use(flags, layers, &o)
		}
		var usage *usageError
		if err != nil && !errors.As(err, &usage) {
			t.Errorf("%q: %v is no usage error", text, err)
		}
	})
}

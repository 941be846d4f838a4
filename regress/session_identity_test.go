package regress

import (
	"reflect"
	"testing"

	"muster/regress/internal/golden"
	"muster/regress/internal/run"
)

// Whatever changes outcomes, or the choice of cases, is named when it is not as
// it was; what does neither is not.
func TestFlags(t *testing.T) {
	base := sound()
	for flag, change := range map[string]func(*Options){
		"--headers":      func(o *Options) { o.Corpus.Headers = []string{"*.h"} },
		"--context":      func(o *Options) { o.Corpus.Context = []string{"**"} },
		"--env":          func(o *Options) { o.Command.Env = []string{"A=1"} },
		"--pass-env":     func(o *Options) { o.Command.PassEnv = []string{"A"} },
		"--shell":        func(o *Options) { o.Command.Shell = true },
		"--stdin":        func(o *Options) { o.Command.Stdin = true },
		"--cases":        func(o *Options) { o.Select.Globs = []string{"*"} },
		"--filter":       func(o *Options) { o.Select.Filters = []string{"x"} },
		"--partition":    func(o *Options) { o.Select.Partition = "hash:1/2" },
		"--sample":       func(o *Options) { o.Select.Sample = 3 },
		"--all-cases":    func(o *Options) { o.Select.AllCases = true },
		"--timeout":      func(o *Options) { o.Limits.Timeout *= 2 },
		"--memory":       func(o *Options) { o.Limits.Memory = 1 << 30 },
		"--output-max":   func(o *Options) { o.Limits.OutputMax = 1 },
		"--tool-file":    func(o *Options) { o.Command.ToolFiles = []string{"*.py"} },
		"--no-tool-file": func(o *Options) { o.Command.NoToolFiles = []string{"log"} },
		"--normalize":    func(o *Options) { o.Judge.Normalize = []string{"s/a/b/"} },
		"": func(o *Options) {
			o.Limits.Jobs, o.Report.Quiet, o.Select.FailedFirst, o.Judge.Allow = 9, true, true, []string{"new"}
		},
	} {
		o := base
		change(&o)
		if got := run.FirstDifference(allFlags(&base), allFlags(&o)); got != flag {
			t.Errorf("the change of %q is told as of %q", flag, got)
		}
		if got := run.FirstDifference(allFlags(&o), allFlags(&base)); got != flag {
			t.Errorf("the change back of %q is told as of %q", flag, got)
		}
	}
}

// A golden gives back what it was recorded with, byte for byte, unless the
// caller says otherwise.
func TestAsRecorded(t *testing.T) {
	was := sound()
	was.Corpus = Corpus{Path: "src", Headers: []string{"*.h", `a "quoted" b`}, Context: []string{"\xff"}}
	was.Command = Command{Words: []string{"cc", "{in}"}, Shell: true, Env: []string{"A=1 2"}, PassEnv: []string{"B"}}
	was.Judge.Normalize = []string{`s/\d+ "x"/N/`}
	m := golden.Meta{Flags: allFlags(&was), Command: []golden.Command{{Args: was.Command.Words}, {Glob: "*.s", Args: []string{"as"}}}}
	m.CorpusPath = was.Corpus.Path

	now := sound()
	completeAsRecorded(&now, m)
	was.Command.ByGlob = []GlobCommand{{Glob: "*.s", Words: []string{"as"}}}
	if !reflect.DeepEqual(now, was) {
		t.Errorf("nothing given:\n%+v, want\n%+v", now, was)
	}

	now = sound()
	now.Corpus = Corpus{Path: "other", Headers: []string{""}, Context: []string{}}
	now.Command = Command{Words: []string{"tcc"}, Env: []string{"A=2"}}
	completeAsRecorded(&now, m)
	want := sound()
	want.Corpus = Corpus{Path: "other", Headers: []string{""}, Context: []string{}}
	want.Command = Command{Words: []string{"tcc"}, Env: []string{"A=2"}, PassEnv: []string{"B"}}
	want.Judge.Normalize = was.Judge.Normalize
	if !reflect.DeepEqual(now, want) {
		t.Errorf("much given:\n%+v, want\n%+v", now, want)
	}

	m.CorpusPath = "-"
	now = sound()
	if completeAsRecorded(&now, m); now.Corpus.Path != "" {
		t.Errorf("standard input is read again as %q", now.Corpus.Path)
	}
}

func TestUnquoted(t *testing.T) {
	for list, want := range map[string][]string{
		"": nil, "[]": nil, `["a"]`: {"a"}, `["a b" "\"" "\xff" ""]`: {"a b", `"`, "\xff", ""}, "damaged": nil, `["open`: nil,
	} {
		if got := unquoted(list); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", list, got, want)
		}
	}
}

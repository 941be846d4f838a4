package job

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/golden"
)

// Whatever changes outcomes, or the choice of cases, is named when it is not as
// it was; what does neither is not.
func TestFlags(t *testing.T) {
	base := sound()
	for flag, change := range map[string]func(*regress.Options){
		"--headers":      func(o *regress.Options) { o.Corpus.Headers = []string{"*.h"} },
		"--context":      func(o *regress.Options) { o.Corpus.Context = []string{"**"} },
		"--env":          func(o *regress.Options) { o.Command.Env = []string{"A=1"} },
		"--pass-env":     func(o *regress.Options) { o.Command.PassEnv = []string{"A"} },
		"--shell":        func(o *regress.Options) { o.Command.Shell = true },
		"--stdin":        func(o *regress.Options) { o.Command.Stdin = true },
		"--cases":        func(o *regress.Options) { o.Select.Globs = []string{"*"} },
		"--filter":       func(o *regress.Options) { o.Select.Filters = []string{"x"} },
		"--partition":    func(o *regress.Options) { o.Select.Partition = "hash:1/2" },
		"--sample":       func(o *regress.Options) { o.Select.Sample = 3 },
		"--all-cases":    func(o *regress.Options) { o.Select.AllCases = true },
		"--timeout":      func(o *regress.Options) { o.Limits.Timeout *= 2 },
		"--memory":       func(o *regress.Options) { o.Limits.Memory = 1 << 30 },
		"--output-max":   func(o *regress.Options) { o.Limits.OutputMax = 1 },
		"--tool-file":    func(o *regress.Options) { o.Command.ToolFiles = []string{"*.py"} },
		"--no-tool-file": func(o *regress.Options) { o.Command.NoToolFiles = []string{"log"} },
		"--normalize":    func(o *regress.Options) { o.Judge.Normalize = []string{"s/a/b/"} },
		"": func(o *regress.Options) {
			o.Limits.Jobs, o.Report.Quiet, o.Select.FailedFirst, o.Judge.Allow = 9, true, true, []string{"new"}
		},
	} {
		o := base
		change(&o)
		if got := differingKeys(IdentityFlags(&base), IdentityFlags(&o)); got != flag {
			t.Errorf("the change of %q is told as of %q", flag, got)
		}
		if got := differingKeys(IdentityFlags(&o), IdentityFlags(&base)); got != flag {
			t.Errorf("the change back of %q is told as of %q", flag, got)
		}
	}
}

// A golden gives back what it was recorded with, byte for byte, unless the
// caller says otherwise.
func TestAsRecorded(t *testing.T) {
	was := sound()
	was.Corpus = regress.Corpus{Path: "src", Headers: []string{"*.h", `a "quoted" b`}, Context: []string{"\xff"}}
	was.Command = regress.Command{Words: []string{"cc", "{in}"}, Shell: true, Env: []string{"A=1 2"}, PassEnv: []string{"B"}}
	was.Judge.Normalize = []string{`s/\d+ "x"/N/`}
	m := golden.Meta{Flags: IdentityFlags(&was), Command: []golden.Command{{Args: was.Command.Words}, {Glob: "*.s", Args: []string{"as"}}}}
	m.CorpusPath = was.Corpus.Path

	now := sound()
	TakeRecorded(&now, m)
	was.Command.ByGlob = []regress.GlobCommand{{Glob: "*.s", Words: []string{"as"}}}
	if !reflect.DeepEqual(now, was) {
		t.Errorf("nothing given:\n%+v, want\n%+v", now, was)
	}

	now = sound()
	now.Corpus = regress.Corpus{Path: "other", Headers: []string{""}, Context: []string{}}
	now.Command = regress.Command{Words: []string{"tcc"}, Env: []string{"A=2"}}
	TakeRecorded(&now, m)
	want := sound()
	want.Corpus = regress.Corpus{Path: "other", Headers: []string{""}, Context: []string{}}
	want.Command = regress.Command{Words: []string{"tcc"}, Env: []string{"A=2"}, PassEnv: []string{"B"}}
	want.Judge.Normalize = was.Judge.Normalize
	if !reflect.DeepEqual(now, want) {
		t.Errorf("much given:\n%+v, want\n%+v", now, want)
	}

	m.CorpusPath = "-"
	now = sound()
	if TakeRecorded(&now, m); now.Corpus.Path != "" {
		t.Errorf("standard input is read again as %q", now.Corpus.Path)
	}
}

func TestUnquoted(t *testing.T) {
	for list, want := range map[string][]string{
		"": nil, "[]": nil, `["a"]`: {"a"}, `["a b" "\"" "\xff" ""]`: {"a b", `"`, "\xff", ""}, "damaged": nil, `["open`: nil,
	} {
		if got := unquote(list); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", list, got, want)
		}
	}
}

// differingKeys returns the keys in which two maps differ.
func differingKeys(a, b map[string]string) string {
	keys := map[string]bool{}
	for _, m := range []map[string]string{a, b} {
		for key := range m {
			if a[key] != b[key] {
				keys[key] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), " ")
}

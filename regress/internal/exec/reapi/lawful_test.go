package reapi_test

import (
	"os"
	"path/filepath"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"

	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/exec/reapi/tree"
	"muster/test/kits/reapitest"
)

// With all that can be in an action, in no order and some of it twice, each message is as the
// API's text wants it: the engine of the tests refuses others.
func TestActionsAreLawful(t *testing.T) {
	for name, high := range map[string]*semver.SemVer{"2.1": {Major: 2, Minor: 1}, "2.3": {Major: 2, Minor: 3}} {
		w := newWorker(t, reapitest.Options{Can: func(c *repb.ServerCapabilities) {
			c.HighApiVersion = high
			c.CacheCapabilities.SymlinkAbsolutePathStrategy = repb.SymlinkAbsolutePathStrategy_DISALLOWED
		}})
		w.whole = "no way"
		travels := t.TempDir()
		for _, at := range []string{"lib/b.so", "lib/a/c.so", "a"} {
			mustWrite(t, filepath.Join(travels, at), at)
		}
		if err := os.Symlink(filepath.Join(travels, "lib/b.so"), filepath.Join(travels, "lib/a/b")); err != nil {
			t.Fatal(err)
		}
		from := reapi.OpenCorpus(t, map[string]string{"HDR_a.h": "a", "inc/HDR_b.h": "b", "inc/deep/x.c": "x", "y.c": "y"})
		s := w.mustStart(func(o *reapi.Options) {
			o.Corpus, o.Inputs = from, []string{travels}
			o.Setting.Env = []string{"Z=1", "A=2", "Z=3", "TZ=CET"}
			o.Setting.Platform = []tree.Property{{Name: "b", Value: "2"}, {Name: "b", Value: "1"}, {Name: "a", Value: "x"}, {Name: "b", Value: "2"}}
			o.Setting.Outputs = func(exec.Job) ([]string, func(string) bool) {
				return []string{"z", "a/b.o", "a/b.c", assembler, "z"}, nil
			}
		})
		for _, e := range from.Cases() {
			for _, c := range []*exec.Command{reapi.Compiler(), {Words: reapi.Compiler().Words, Path: reapi.Compiler().Path, Stdin: true}, {Words: []string{"cc {in}"}, Path: "/bin/sh", Shell: true}} {
				if _, err := exec.Run(t.Context(), s.Engine, exec.Job{Source: e, Command: c, Avoid: exec.NoLane}); err != nil {
					t.Errorf("%s, %s: %v", name, e.Name, err)
				}
			}
		}
	}
}

func mustWrite(t *testing.T, at, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

package reapi

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress"
	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
)

func TestActionsHaveAllThatCasesAreGiven(t *testing.T) {
	c := OpenCorpus(t, corpusFiles)
	s := setting()
	s.Timeout = 59*time.Second + time.Millisecond
	s.Env, s.Platform = []string{"TZ=CET", "X=1"}, []tree.Property{{Name: "OS", Value: "linux"}}
	a := builderFor(t, c, s)
	on := store{}
	on.put(t, slices.Collect(a.sharedBlobs)...)
	for _, e := range c.Cases() {
		x := built(t, a, exec.Job{Source: e, Command: Compiler()})
		on.put(t, x.blobs...)
		if most := 2 + strings.Count(e.Name, "/") + 3; len(x.blobs) != most {
			t.Errorf("%s: %d blobs of its own, want %d", e.Name, len(x.blobs), most)
		}
		var m repb.Action
		on.get(t, x.digest.Proto(), &m)
		want := []string{"work/HDR_a.h=a", "work/inc/HDR_b.h=b", "work/" + e.Name + "=" + corpusFiles[e.Name]}
		if got := on.listed(t, m.GetInputRootDigest(), ""); !sameSet(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		var command repb.Command
		on.get(t, m.GetCommandDigest(), &command)
		if !slices.Equal(command.GetArguments(), []string{"/usr/bin/cc", e.Name}) || command.GetWorkingDirectory() != "work" || !slices.Equal(command.GetOutputPaths(), []string{""}) {
			t.Errorf("%v", &command)
		}
		env := map[string]string{}
		for _, v := range command.GetEnvironmentVariables() {
			env[v.GetName()] = v.GetValue()
		}
		if env["TZ"] != "CET" || env["X"] != "1" || env["LC_ALL"] != "C.UTF-8" || strings.Contains(env["PATH"], "go") {
			t.Errorf("%v", env)
		}
		if m.GetTimeout().AsDuration() != time.Minute || m.GetPlatform().GetProperties()[0].GetValue() != "linux" {
			t.Errorf("%v", &m)
		}
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// The same case is the same action, on every machine.
func TestSameCaseSameAction(t *testing.T) {
	first, second := OpenCorpus(t, corpusFiles), OpenCorpus(t, corpusFiles)
	e := first.Cases()[0]
	digest := func(c *corpus.Corpus, j exec.Job) blob.Digest {
		return built(t, builderFor(t, c, setting()), j).digest
	}
	j := exec.Job{Source: e, Command: Compiler()}
	base := digest(first, j)
	if digest(second, j) != base {
		t.Error("another folder makes another action")
	}
	other := j
	other.Content = []byte("other")
	same := j
	same.Content = []byte(corpusFiles[e.Name])
	if digest(first, other) == base || digest(first, same) != base {
		t.Error("a content that a run has in place of the corpus's is not what counts")
	}
}

// Engines may know whole seconds alone, and half a second must not be none.
func TestTimeoutInWholeSeconds(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		time.Millisecond: time.Second, time.Second: time.Second, 1500 * time.Millisecond: 2 * time.Second,
		math.MaxInt64: time.Duration(math.MaxInt64).Truncate(time.Second),
	} {
		if got := wholeSeconds(given); got != want {
			t.Errorf("of %v: %v, want %v", given, got, want)
		}
	}
}

func TestStandardInputAndNamedOutputs(t *testing.T) {
	c := OpenCorpus(t, corpusFiles)
	s := setting()
	s.Outputs = func(j exec.Job) ([]string, func(string) bool) { return []string{j.Source.Name + ".out"}, nil }
	a := builderFor(t, c, s)
	a.whole = noWholePath
	command := &exec.Command{Words: []string{"/usr/bin/cc", "-"}, Path: "/usr/bin/cc", Stdin: true}
	e := c.Cases()[0]
	on := store{}
	x := built(t, a, exec.Job{Source: e, Command: command})
	on.put(t, x.blobs...)
	var m repb.Action
	on.get(t, x.digest.Proto(), &m)
	var got repb.Command
	on.get(t, m.GetCommandDigest(), &got)
	want := []string{"/bin/sh", "-c", `exec "$@" <"$0"`, e.Name, "/usr/bin/cc", "-"}
	if !slices.Equal(got.GetArguments(), want) || !slices.Equal(got.GetOutputPaths(), []string{e.Name + ".out"}) {
		t.Errorf("%v", &got)
	}
}

func TestNamesThatCannotBeSent(t *testing.T) {
	c := OpenCorpus(t, corpusFiles)
	e := c.Cases()[0]
	e.Name = "\xff.c"
	if _, err := builderFor(t, c, setting()).build(exec.Job{Source: e, Command: Compiler()}); regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "%FF.c") {
		t.Errorf("%v", err)
	}
}

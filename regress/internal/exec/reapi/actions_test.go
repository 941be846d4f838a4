package reapi_test

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
)

// store holds what would be on an engine.
type store map[blob.Digest][]byte

func (s store) put(t *testing.T, blobs ...blob.Blob) {
	t.Helper()
	for _, b := range blobs {
		r, err := b.Reader()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		if blob.Of(text).Digest != b.Digest {
			t.Fatalf("a blob is not what its digest says: %.40q", text)
		}
		s[b.Digest] = text
	}
}

func (s store) get(t *testing.T, d *repb.Digest, m proto.Message) {
	t.Helper()
	digest, err := blob.FromProto(d)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := s[digest]
	if !ok {
		t.Fatalf("blob %v was never sent", digest)
	}
	if err := proto.Unmarshal(text, m); err != nil {
		t.Fatal(err)
	}
}

// listed is every file and link below a folder that was sent, with all contents there.
func (s store) listed(t *testing.T, d *repb.Digest, at string) (list []string) {
	t.Helper()
	var m repb.Directory
	s.get(t, d, &m)
	for _, f := range m.GetFiles() {
		digest, err := blob.FromProto(f.GetDigest())
		if err != nil {
			t.Fatal(err)
		}
		text, ok := s[digest]
		if !ok {
			t.Fatalf("%s was never sent", f.GetName())
		}
		list = append(list, at+f.GetName()+"="+string(text[:min(len(text), 10)]))
	}
	for _, l := range m.GetSymlinks() {
		list = append(list, at+l.GetName()+"->"+l.GetTarget())
	}
	for _, sub := range m.GetDirectories() {
		list = append(list, s.listed(t, sub.GetDigest(), at+sub.GetName()+"/")...)
	}
	return list
}

func (s store) contents() reapi.Contents {
	read := func(_ context.Context, d blob.Digest) ([]byte, error) {
		if text, ok := s[d]; ok {
			return text, nil
		}
		return nil, errEvicted
	}
	return reapi.Contents{Read: read, Open: func(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
		text, err := read(ctx, d)
		return io.NopCloser(strings.NewReader(string(text))), err
	}}
}

var errEvicted = errors.New("evicted")

// opened makes a corpus of files.
func opened(t *testing.T, files map[string]string) *corpus.Corpus {
	t.Helper()
	dir := t.TempDir()
	for at, text := range files {
		to := filepath.Join(dir, at)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := corpus.Open(t.Context(), corpus.Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

var sources = map[string]string{"HDR_a.h": "a", "inc/HDR_b.h": "b", "inc/deep/x.c": "x", "y.c": "y"}

func setting() reapi.Setting {
	return reapi.Setting{Timeout: time.Minute, OutputMax: 100, Whole: reapi.WholeEmpty}
}

// actions are those of a command that is not sent.
func actions(t *testing.T, c *corpus.Corpus, s reapi.Setting) *reapi.Actions {
	t.Helper()
	g, err := reapi.ReadGiven(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Make(t.Context(), bundle.Options{Command: tool()})
	if err != nil {
		t.Fatal(err)
	}
	a, err := reapi.NewActions(g, b, s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func tool() *exec.Command {
	return &exec.Command{Words: []string{"/usr/bin/cc", "{in}"}, Path: "/usr/bin/cc"}
}

func action(t *testing.T, a *reapi.Actions, j exec.Job) *reapi.Action {
	t.Helper()
	x, err := a.Of(j)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestActionsHaveAllThatCasesAreGiven(t *testing.T) {
	c := opened(t, sources)
	s := setting()
	s.Env, s.Platform = []string{"TZ=CET", "X=1"}, []tree.Property{{Name: "OS", Value: "linux"}}
	a := actions(t, c, s)
	on := store{}
	on.put(t, slices.Collect(a.Shared)...)
	for _, e := range c.Cases() {
		x := action(t, a, exec.Job{Source: e, Command: tool()})
		on.put(t, x.Blobs...)
		if most := 2 + strings.Count(e.Name, "/") + 3; len(x.Blobs) != most {
			t.Errorf("%s: %d blobs of its own, want %d", e.Name, len(x.Blobs), most)
		}
		var m repb.Action
		on.get(t, x.Digest.Proto(), &m)
		want := []string{"work/HDR_a.h=a", "work/inc/HDR_b.h=b", "work/" + e.Name + "=" + sources[e.Name]}
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
	first, second := opened(t, sources), opened(t, sources)
	e := first.Cases()[0]
	digest := func(c *corpus.Corpus, j exec.Job) blob.Digest {
		return action(t, actions(t, c, setting()), j).Digest
	}
	j := exec.Job{Source: e, Command: tool()}
	base := digest(first, j)
	if digest(second, j) != base {
		t.Error("another folder makes another action")
	}
	other := j
	other.Content = []byte("other")
	same := j
	same.Content = []byte(sources[e.Name])
	if digest(first, other) == base || digest(first, same) != base {
		t.Error("a content that a run has in place of the corpus's is not what counts")
	}
}

// Engines may know whole seconds alone, and half a second must not be none.
func TestTimeoutInWholeSeconds(t *testing.T) {
	c, on := opened(t, sources), store{}
	for given, want := range map[time.Duration]time.Duration{
		time.Millisecond: time.Second, time.Second: time.Second, 1500 * time.Millisecond: 2 * time.Second,
		math.MaxInt64: time.Duration(math.MaxInt64).Truncate(time.Second),
	} {
		s := setting()
		s.Timeout = given
		x := action(t, actions(t, c, s), exec.Job{Source: c.Cases()[0], Command: tool()})
		on.put(t, x.Blobs...)
		var m repb.Action
		if on.get(t, x.Digest.Proto(), &m); m.GetTimeout().AsDuration() != want {
			t.Errorf("of %v: %v, want %v", given, m.GetTimeout().AsDuration(), want)
		}
	}
}

func TestStandardInputAndNamedOutputs(t *testing.T) {
	c := opened(t, sources)
	s := setting()
	s.Whole, s.Outputs = reapi.NotWhole, func(j exec.Job) ([]string, func(string) bool) { return []string{j.Source.Name + ".out"}, nil }
	a := actions(t, c, s)
	command := &exec.Command{Words: []string{"/usr/bin/cc", "-"}, Path: "/usr/bin/cc", Stdin: true}
	e := c.Cases()[0]
	on := store{}
	x := action(t, a, exec.Job{Source: e, Command: command})
	on.put(t, x.Blobs...)
	var m repb.Action
	on.get(t, x.Digest.Proto(), &m)
	var got repb.Command
	on.get(t, m.GetCommandDigest(), &got)
	want := []string{"/bin/sh", "-c", `exec "$@" <"$0"`, e.Name, "/usr/bin/cc", "-"}
	if !slices.Equal(got.GetArguments(), want) || !slices.Equal(got.GetOutputPaths(), []string{e.Name + ".out"}) {
		t.Errorf("%v", &got)
	}
}

func TestNamesThatCannotBeSent(t *testing.T) {
	c := opened(t, sources)
	e := c.Cases()[0]
	e.Name = "\xff.c"
	if _, err := actions(t, c, setting()).Of(exec.Job{Source: e, Command: tool()}); fault.ClassOf(err) != fault.Input || !strings.Contains(err.Error(), "%FF.c") {
		t.Errorf("%v", err)
	}
}

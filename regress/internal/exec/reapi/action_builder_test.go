package reapi

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
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

func (s store) contents() contentStore {
	read := func(_ context.Context, d blob.Digest) ([]byte, error) {
		if text, ok := s[d]; ok {
			return text, nil
		}
		return nil, errEvicted
	}
	return contentStore{read: read, open: func(ctx context.Context, d blob.Digest) (io.ReadCloser, error) {
		text, err := read(ctx, d)
		return io.NopCloser(strings.NewReader(string(text))), err
	}}
}

var errEvicted = errors.New("evicted")

func setting() Setting {
	return Setting{Timeout: time.Minute, OutputMax: 100}
}

// builderFor makes actions of a command that is not sent, for an engine that gives back the
// whole work folder.
func builderFor(t *testing.T, c *corpus.Corpus, s Setting) *actionBuilder {
	t.Helper()
	g, err := readSharedInputs(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Make(t.Context(), bundle.Options{Command: Compiler()})
	if err != nil {
		t.Fatal(err)
	}
	a, err := newActionBuilder(g, b, s)
	if err != nil {
		t.Fatal(err)
	}
	a.whole = emptyPath
	return a
}

func built(t *testing.T, a *actionBuilder, j exec.Job) *action {
	t.Helper()
	x, err := a.build(j)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestActionsHaveAllThatCasesAreGiven(t *testing.T) {
	c := OpenCorpus(t, corpusFiles)
	s := setting()
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
	if _, err := builderFor(t, c, setting()).build(exec.Job{Source: e, Command: Compiler()}); fault.ClassOf(err) != fault.Input || !strings.Contains(err.Error(), "%FF.c") {
		t.Errorf("%v", err)
	}
}

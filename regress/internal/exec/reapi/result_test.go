package reapi

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/outcome"
)

// left is the result of an action whose work folder holds, beside what it was given, files.
func (s store) left(t *testing.T, files map[string]string) *repb.ActionResult {
	t.Helper()
	all := map[string]string{"HDR_a.h": "a", "inc/HDR_b.h": "b", "y.c": "y"}
	var d tree.Builder
	for at, text := range files {
		all[at] = text
	}
	for at, text := range all {
		if text == "" {
			continue // gone
		}
		b := blob.Of([]byte(text))
		s.put(t, b)
		if err := d.File(at, tree.File{Digest: b.Digest}); err != nil {
			t.Fatal(err)
		}
	}
	root, err := d.Build()
	if err != nil {
		t.Fatal(err)
	}
	for b := range root.Blobs {
		s.put(t, b)
	}
	return &repb.ActionResult{OutputDirectories: []*repb.OutputDirectory{{RootDirectoryDigest: root.Digest().Proto()}}}
}

// actionOf is that of case y.c.
func actionOf(t *testing.T, s Setting, command *exec.Command) *action {
	t.Helper()
	c := OpenCorpus(t, corpusFiles)
	return built(t, builderFor(t, c, s), exec.Job{Source: c.Cases()[1], Command: command})
}

func shown(t *testing.T, r *exec.Result) string {
	t.Helper()
	text := r.Outcome.Ending.String()
	for _, p := range r.Outcome.Parts {
		in, err := r.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
		if p.Form != outcome.Gone && (outcome.Of(content) != p.Digest || int64(len(content)) != p.Size) {
			t.Errorf("%s: %q is not what its digest says", p.Key, content)
		}
		text += fmt.Sprintf(" %s:%d:%s", p.Key, p.Form, content)
	}
	return text
}

func TestResult(t *testing.T) {
	s := store{}
	r := s.left(t, map[string]string{"y.o": "object", "inc/HDR_b.h": "edited", "HDR_a.h": ""})
	r.ExitCode = 1
	r.StdoutRaw = []byte("inline")
	errs := blob.Of([]byte("by digest"))
	s.put(t, errs)
	r.StderrDigest = errs.Digest.Proto()
	got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: r, cached: true}, s.contents())
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	const want = "exit 1 stdout:0:inline stderr:0:by digest HDR_a.h:2: inc/HDR_b.h:0:edited y.o:0:object"
	if text := shown(t, got); text != want || got.Lane != exec.NoLane || !got.Engine.Cached || got.Engine.Measured {
		t.Errorf("%s, %+v", text, got.Engine)
	}
}

// Nothing is downloaded that nobody asks for: what the parts hold need not even be there.
func TestContentsAreOpenedLater(t *testing.T) {
	s := store{}
	r := s.left(t, map[string]string{"y.o": "object"})
	delete(s, blob.Of([]byte("object")).Digest)
	r.StdoutDigest = blob.Of([]byte("never sent")).Digest.Proto()
	got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: r}, s.contents())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := got.Open(got.Outcome.Parts[0]); !errors.Is(err, errEvicted) {
		t.Errorf("%v", err)
	}
}

func TestOutputLimit(t *testing.T) {
	for name, r := range map[string]func(store, *testing.T) *repb.ActionResult{
		"a stream": func(s store, t *testing.T) *repb.ActionResult {
			r := s.left(t, nil)
			r.StdoutRaw = []byte(strings.Repeat("x", 101))
			return r
		},
		"files and a stream": func(s store, t *testing.T) *repb.ActionResult {
			r := s.left(t, map[string]string{"a": strings.Repeat("x", 60)})
			r.StderrRaw = []byte(strings.Repeat("x", 60))
			return r
		},
	} {
		s := store{}
		got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: r(s, t)}, s.contents())
		if err != nil || got.Outcome.Ending.Kind != regress.OutputLimit || len(got.Outcome.Parts) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	s := store{}
	got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: s.left(t, map[string]string{"a": strings.Repeat("x", 100)})}, s.contents())
	if err != nil || got.Outcome.Ending.Kind != regress.Exited {
		t.Errorf("just as much as it may: %+v, %v", got, err)
	}
	r := s.left(t, nil)
	r.StdoutRaw = []byte(strings.Repeat("x", 100))
	if got, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: r}, s.contents()); err != nil || got.Outcome.Ending.Kind != regress.Exited {
		t.Errorf("a stream of just as much as it may: %+v, %v", got, err)
	}
}

// What an engine gets wrong is the environment's, never a verdict.
func TestEngineInError(t *testing.T) {
	for name, change := range map[string]func(store, *repb.ActionResult){
		"no work folder": func(_ store, r *repb.ActionResult) { r.OutputDirectories = nil },
		"another stream": func(_ store, r *repb.ActionResult) {
			r.StdoutRaw, r.StdoutDigest = []byte("x"), blob.Of([]byte("y")).Digest.Proto()
		},
		"a damaged digest":    func(_ store, r *repb.ActionResult) { r.StderrDigest = &repb.Digest{Hash: "x"} },
		"a folder is evicted": func(s store, _ *repb.ActionResult) { clear(s) },
	} {
		s := store{}
		r := s.left(t, map[string]string{"y.o": "o"})
		change(s, r)
		_, err := actionOf(t, setting(), Compiler()).resultOf(t.Context(), response{result: r}, s.contents())
		if regress.ClassOf(err) != regress.Environment {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(name, "evicted") && !errors.Is(err, errEvicted) {
			t.Errorf("%s: who reads cannot tell: %v", name, err)
		}
	}
}

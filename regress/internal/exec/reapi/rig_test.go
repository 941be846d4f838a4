package reapi

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/bundle"
)

// What the tests from outside (package reapi_test) share with those from inside.

// OpenCorpus makes a corpus of files.
func OpenCorpus(t *testing.T, files map[string]string) *corpus.Corpus {
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

// Compiler is a command that the engine has.
func Compiler() *exec.Command {
	return &exec.Command{Words: []string{"/usr/bin/cc", "{in}"}, Path: "/usr/bin/cc"}
}

// corpusFiles are headers and two cases, in folders.
var corpusFiles = map[string]string{"HDR_a.h": "a", "inc/HDR_b.h": "b", "inc/deep/x.c": "x", "y.c": "y"}

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

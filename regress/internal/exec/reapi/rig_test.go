package reapi

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"muster/regress/internal/corpus"
	"muster/regress/internal/exec"
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

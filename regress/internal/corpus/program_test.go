package corpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress/internal/corpus"
)

// What the tar program itself writes is the folder that it was given.
func TestTarProgram(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.c": "A", "sub/b c\n\xff.c": strings.Repeat("b", 700), "sub/HDR_x.h": "x", "empty": "", "d/": "",
		"l -> sub/HDR_x.h": "", "f -> sub": "", "none -> nowhere": "", "e -> d": "",
	})
	if err := os.Chmod(filepath.Join(dir, "a.c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "a.c"), filepath.Join(dir, "hard")); err != nil {
		t.Fatal(err)
	}
	want := digest(t, open(t, corpus.Options{Path: dir}))
	for _, how := range []string{
		"--format=v7", "--format=oldgnu", "--format=gnu", "--format=ustar", "--format=posix", "--format=gnu --label=corpus", "--format=gnu -g ../snapshot",
		"-z", "-J", "--zstd", "--hard-dereference", "--format=posix --pax-option=globexthdr.name=g,comment=c", "--record-size=512",
	} {
		suffix := map[string]string{"-z": ".gz", "-J": ".xz", "--zstd": ".zst"}[how]
		path := filepath.Join(t.TempDir(), "c.tar"+suffix)
		run(t, dir, append([]string{"tar", "-cf", path}, append(strings.Fields(how), ".")...)...)
		c := open(t, corpus.Options{Path: path})
		if got := digest(t, c); got != want {
			t.Errorf("tar %s gives\n%s", how, describe(t, c))
		}
	}
}

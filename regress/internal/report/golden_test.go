package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"muster/internal/readable"
	"muster/regress/internal/diff"
)

var update = flag.Bool("update", false, "write what the tests get into testdata")

// checkGolden compares got with testdata/name.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		text, _, _ := diff.Unified(want, got, diff.Limits{Lines: 60})
		t.Errorf("%s differs (go test -run %s -update writes it):\n%s", path, t.Name(), text)
	}
}

// checkHarmless fails when text could do more to a terminal than print.
func checkHarmless(t interface{ Fatalf(string, ...any) }, text string) {
	const context = 60
	for i, r := range text {
		if size := max(1, utf8.RuneLen(r)); r != '\n' && r != '\t' && readable.Rune(r, text[i:min(len(text), i+size)]) != string(r) {
			t.Fatalf("%q at byte %d is not harmless, in %q", r, i, text[max(0, i-context):min(len(text), i+context)])
		}
	}
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %.1000q", text)
	}
}

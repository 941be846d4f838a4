package diff

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"muster/internal/readable"
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
		text, _, _ := Unified(want, got, Limits{Lines: 60})
		t.Errorf("%s differs (go test -run %s -update writes it):\n%s", path, t.Name(), text)
	}
}

// checkHarmless fails when text could do more to a terminal than print.
func checkHarmless(t interface{ Fatalf(string, ...any) }, text string) {
	if shown := readable.Text(text); shown != text {
		t.Fatalf("%q prints as %q", text, shown)
	}
}

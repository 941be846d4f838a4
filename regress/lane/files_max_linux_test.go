package lane

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// One file above FilesMax is too many, while a case runs and at its end.
func TestFilesMax(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "last"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for before, want := range map[int]bool{FilesMax - 1: false, FilesMax: true} {
		f, c := &folder{work: dir}, &changes{names: make([]string, before)}
		if err := f.walk("", c); errors.Is(err, errTooMany) != want || !want && err != nil {
			t.Errorf("%d files before: %v", before, err)
		}
		s := usage{files: before}
		if s.addBelow(dir, ""); s.files > FilesMax != want {
			t.Errorf("%d files before: %d", before, s.files)
		}
	}
}

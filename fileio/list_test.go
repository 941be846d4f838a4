package fileio_test

import (
	"os"
	"path/filepath"
	"testing"

	"muster/fileio"
	"muster/fileio/direct"
	"muster/fileio/enginetest"
)

// What is no file, for somebody planted it, is not in a list, and does not end it.
func TestListPassesOverWhatIsPlanted(t *testing.T) {
	folder := t.TempDir()
	s := enginetest.Open(t, &direct.Engine{}, folder, fileio.Options{Sync: fileio.SyncNone})
	for _, name := range []string{"a", "b", "c"} {
		enginetest.Put(t, s, name, []byte("x"))
	}
	found, err := filepath.Glob(filepath.Join(folder, "??", "[ab]"))
	if err != nil || len(found) != 2 {
		t.Fatal(found, err)
	}
	for _, path := range found {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", path); err != nil {
			t.Fatal(err)
		}
	}
	for _, most := range []int{1, 10} {
		infos, more, err := s.List(t.Context(), "", "", most)
		if err != nil || more || len(infos) != 1 || infos[0].Name != "c" {
			t.Errorf("%d at a time: %+v, %v, %v", most, infos, more, err)
		}
	}
}

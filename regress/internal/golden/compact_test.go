package golden

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// spacious makes a golden with unused space at path, and returns its state.
func spacious(t testing.TB, path string) whole {
	t.Helper()
	state := generation(0)
	build(t, path, state)
	err := Update(path, func(tx *Tx) error {
		for n := range state.Records {
			if n > "case009" {
				delete(state.Records, n)
				if err := tx.Delete(n); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	state.Contents = used(state.Records, state.Contents)
	return state
}

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a", "g"), filepath.Join(dir, "b", "link")
	mkdirs(t, path, link)
	state := spacious(t, path)
	digest := digestOf(t, path)
	if err := errors.Join(os.Symlink(path, link), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	was, err := s.Sizes()
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	copyFile(t, path, path+copySuffix) // what a kill left
	before, after, err := Compact(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o640 || info.Size() != after || before != was.File || before-after < was.Unused {
		t.Errorf("%d → %d of which %d were unused, %v, %v", before, after, was.Unused, info.Mode(), err)
	}
	if target, err := os.Readlink(link); err != nil || target != path {
		t.Errorf("the link is no link any more: %v", err)
	}
	same(t, mustRead(t, path), state)
	if digestOf(t, path) != digest {
		t.Error("another digest")
	}
	if s, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	plain := int64(0)
	for _, content := range state.Contents {
		plain += int64(len(content))
	}
	if z, err := s.Sizes(); err != nil || z.Unused != 0 || z.File != after || z.Plain != plain || z.Contents != nonEmpty(state.Contents) || z.Packed == 0 {
		t.Errorf("%+v %v", z, err)
	}
	if found, err := s.Check(t.Context()); err != nil || !found.Whole() {
		t.Errorf("%+v %v", found, err)
	}
}

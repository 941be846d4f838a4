package filedigest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"muster/regress/internal/filestamp"
	"muster/regress/internal/outcome"
)

// A second run reads nothing that is as it was, and everything that is not.
func TestDigestsAreRemembered(t *testing.T) {
	dir := t.TempDir()
	tool, cache := filepath.Join(dir, "tool"), filepath.Join(dir, "state", "digests.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(tool, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	first := Open(cache)
	was, err := first.Of(tool, 100)
	if err != nil || first.read != 1 {
		t.Fatal(was, err)
	}
	// It is too young to be remembered: a change at once would not show.
	first.Save()
	if again := Open(cache); len(again.old) != 0 {
		t.Errorf("%v", again.old)
	}
	first.rest = 0
	if _, err := first.Of(tool, 100); err != nil {
		t.Fatal(err)
	}
	first.Save()
	second := Open(cache)
	second.rest = 0
	if now, err := second.Of(tool, 100); err != nil || now.Hash != was.Hash || second.read != 0 {
		t.Errorf("%v, %v, %d files read", now, err, second.read)
	}
	write("another")
	if now, err := second.Of(tool, 100); err != nil || now.Hash == was.Hash || second.read != 1 {
		t.Errorf("%v, %v, %d files read", now, err, second.read)
	}
	if err := os.WriteFile(cache, []byte(`{"version":2,"files":{}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if other := Open(cache); other.old != nil {
		t.Error("another version was read")
	}
}

// A write through a mapping leaves no trace in the times of a file. While there is a mapping, the content is
// read each time. On a file system in memory, a page that was read before leaves none at all.
func TestMappedWrites(t *testing.T) {
	dirs := []string{t.TempDir()}
	if dir, err := os.MkdirTemp("/dev/shm", "mapped-"); err == nil {
		defer os.Remove(dir)
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		f, err := os.CreateTemp(dir, "mapped-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(f.Name())
		if _, err := f.WriteString("one"); err != nil {
			t.Fatal(err)
		}
		if filestamp.IsTrusted(f, 0) {
			t.Fatal("the file is open for writing")
		}
		memory, err := syscall.Mmap(int(f.Fd()), 0, 3, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		memory[0] = 'O' // the first write since the file was mapped sets the times
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		c := Open("")
		c.rest = 0
		was, err := c.Of(f.Name(), 100)
		if err != nil || was.IsTrusted {
			t.Fatalf("%+v, %v: the file is mapped", was, err)
		}
		copy(memory, "two")
		if now, err := c.Of(f.Name(), 100); err != nil || now.Hash != outcome.Of([]byte("two")) {
			t.Errorf("%s: %+v was %+v, %v", f.Name(), now, was, err)
		}
		if err := syscall.Munmap(memory); err != nil {
			t.Fatal(err)
		}
	}
}

package corpus_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/internal/corpus"
)

// asNobody calls f as a user whom file modes bind, if this one is root.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread() // the file system's user is the thread's own
	defer runtime.UnlockOSThread()
	const nobody = 65534
	old, err := unix.SetfsuidRetUid(nobody)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.SetfsuidRetUid(old)
	f()
}

// passable lets others come to a path of the test's.
func passable(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	for at, mode := range map[string]os.FileMode{path: mode, filepath.Dir(path): 0o755, filepath.Dir(filepath.Dir(path)): 0o755} {
		if at == os.TempDir() {
			continue
		}
		if err := os.Chmod(at, mode); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFolderUnreadable(t *testing.T) {
	for _, at := range []string{"d/secret", "d"} {
		dir := tree(t, map[string]string{"d/secret": "s"})
		passable(t, dir, 0o755)
		for _, path := range []string{"d/secret", "d"} { // the folder last, for it may bar the way
			mode := os.FileMode(0o755)
			if path == at {
				mode = 0
			}
			if err := os.Chmod(filepath.Join(dir, path), mode); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { os.Chmod(filepath.Join(dir, at), 0o700) })
		asNobody(t, func() {
			c, err := corpus.Open(t.Context(), corpus.Options{Path: dir})
			if err == nil { // files are listed without being opened
				_, err = c.Open(c.Cases()[0])
				c.Close()
			}
			if regress.ClassOf(err) != regress.Environment {
				t.Fatalf("class %v: %v", regress.ClassOf(err), err)
			}
			like(t, err.Error(), dir+": "+at+" cannot be read: permission denied; give yourself the right to read it, or leave it out")
		})
	}
}

func TestArchiveUnreadable(t *testing.T) {
	path := write(t, "c.tar", small(t))
	passable(t, path, 0)
	asNobody(t, func() {
		_, err := corpus.Open(context.Background(), corpus.Options{Path: path})
		if regress.ClassOf(err) != regress.Environment {
			t.Fatalf("class %v: %v", regress.ClassOf(err), err)
		}
		like(t, err.Error(), path+" cannot be read: permission denied; …")
	})
}

// A spool on a full disk, or one that may not be written, is the machine's
// fault.
func TestSpoolNotWritable(t *testing.T) {
	path := write(t, "c.tgz", gz(small(t)))
	passable(t, path, 0o644)
	spool := t.TempDir()
	passable(t, spool, 0o555)
	asNobody(t, func() {
		_, err := corpus.Open(context.Background(), corpus.Options{Path: path, Spool: spool})
		if regress.ClassOf(err) != regress.Environment {
			t.Fatalf("class %v: %v", regress.ClassOf(err), err)
		}
		like(t, err.Error(), path+" cannot be unpacked to "+spool+": permission denied; choose a folder that can be written, by --state")
	})
}

package golden

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"muster/regress"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// occupants are files at a golden's path that are not goldens, each with the words of its refusal.
func occupants(t *testing.T) map[string]struct {
	put  func(path string) error
	says string
} {
	write := func(b []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, b, 0o644) }
	}
	link := func(put func(string) error) func(string) error {
		return func(path string) error { return errors.Join(put(path+".target"), os.Symlink(path+".target", path)) }
	}
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o644) }
	type occupant = struct {
		put  func(path string) error
		says string
	}
	const none = "it is not a muster golden"
	return map[string]occupant{
		"a line":             {write([]byte("a\n")), none},
		"notes":              {write(bytes.Repeat([]byte("notes\n"), 1000)), none},
		"a tar":              {write(make([]byte, 10240)), none},
		"the magic alone":    {write([]byte(magic)), none},
		"another database":   {foreignDatabase, none},
		"of a newer version": {write(goldenOf(t, Version+1)), "a newer muster made it: it has format 4, and this muster knows formats up to 3"},
		"a folder":           {func(path string) error { return os.Mkdir(path, 0o755) }, "it is a folder"},
		"a named pipe":       {fifo, "it is not a regular file"},
		"a device":           {func(path string) error { return os.Symlink("/dev/zero", path) }, "it is not a regular file"},
		"a link to notes":    {link(write([]byte("notes"))), none},
		"a link to a pipe":   {link(fifo), "it is not a regular file"},
	}
}

func foreignDatabase(path string) error {
	db, err := openDatabase(path, create)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), "CREATE TABLE mine(x)")
	return errors.Join(err, db.Close())
}

// goldenOf returns a golden that claims the given format.
func goldenOf(t *testing.T, version byte) []byte {
	t.Helper()
	b, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	b[headerUserVersion+3] = version
	return b
}

// content returns the kinds and bytes of the files in a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var b []byte
			b, err = os.ReadFile(path)
			all[path] = string(b)
		} else {
			all[path] = d.Type().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// inTime fails if do blocks, for example on a named pipe without a writer.
func inTime(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("it hangs")
		return nil
	}
}

// A file that is not a golden is neither replaced nor touched, and nothing waits for it.
func TestForeignIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "g")
	calls := map[string]func() error{
		"Replaceable": func() error { return CheckReplaceable(path) },
		"Create":      func() error { return discard(Create(path, Meta{})) },
		"Resume":      func() error { return discard(Resume(path)) },
	}
	for name, o := range occupants(t) {
		for _, at := range []string{path, path + partSuffix} {
			if err := o.put(at); err != nil {
				t.Fatal(err)
			}
			before := content(t, dir)
			for _, call := range slices.Sorted(maps.Keys(calls)) {
				err := inTime(t, calls[call])
				if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), o.says) ||
					!strings.HasSuffix(err.Error(), ": name another --golden, or move it away") {
					t.Errorf("%s of %s at %s: %v", call, name, filepath.Base(at), err)
				}
				if after := content(t, dir); !maps.Equal(before, after) {
					t.Fatalf("%s of %s at %s changed the folder", call, name, filepath.Base(at))
				}
			}
			for _, p := range []string{at, at + ".target"} {
				if err := os.RemoveAll(p); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func discard(w *Writer, err error) error {
	if err == nil {
		err = w.Abort(false)
	}
	return err
}

// A new golden replaces a golden, damaged or not, and an empty file.
func TestGoldenIsReplaced(t *testing.T) {
	good := goldenOf(t, Version)
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	for name, b := range map[string][]byte{
		"whole": good, "empty": {}, "bit flipped": flipped, "format 0": goldenOf(t, 0), "format 1": goldenOf(t, 1),
		"cut in the header": good[:headerApplication+4], "cut": good[:5000],
	} {
		path := filepath.Join(t.TempDir(), "g")
		for _, p := range []string{path, path + partSuffix} {
			if err := os.WriteFile(p, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		state := generation(0)
		build(t, path, state)
		same(t, mustRead(t, path), state)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// A file that somebody put there while the store was being built also stays.
func TestForeignMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g")
	w, err := Create(path, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("notes"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); regress.ClassOf(err) != regress.Input {
		t.Errorf("Finish: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "notes" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w, err = Resume(path)
	if err == nil {
		err = w.Finish()
	}
	if err != nil {
		t.Error(err)
	}
}

// A lock of another program is neither removed nor emptied.
func TestForeignLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "yarn")
	if err := os.WriteFile(path+lockSuffix, []byte("# the lock file of yarn\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := content(t, filepath.Dir(path))
	wantClass(t, discard(Create(path, Meta{})), regress.Input)
	if !maps.Equal(before, content(t, filepath.Dir(path))) {
		t.Error("it is not as it was")
	}
}

package bundle_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
)

// A file that changes before it is sent is named, and is nobody's but the user's to mend.
func TestChangedBeforeItIsSent(t *testing.T) {
	for how, change := range map[string]func(file string) error{
		"other bytes": func(file string) error { return os.WriteFile(file, []byte("other"), 0o644) },
		"less":        func(file string) error { return os.Truncate(file, 2) },
		"none":        func(file string) error { return os.Truncate(file, 0) },
		"gone":        os.Remove,
		"a folder":    func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) },
	} {
		content, file := sent(t, "bytes")
		if err := change(file); err != nil {
			t.Fatal(err)
		}
		got, err := read(content)
		if err == nil || !strings.HasPrefix(err.Error(), file) || regress.ClassOf(err) != regress.Input {
			t.Errorf("%s: %q, %v", how, got, err)
		}
	}
	content, file := sent(t, "bytes")
	if err := os.WriteFile(file, []byte("bytes and more"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := read(content); err != nil || string(got) != "bytes" {
		t.Errorf("what a file had is still its beginning: %q, %v", got, err)
	}
}

// sent is the content of an input, a file that has this text.
func sent(t *testing.T, text string) (content blob.Blob, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b := made(t, bundle.Options{Inputs: []string{file}, Command: &exec.Command{Words: []string{"/bin/cc"}, Path: "/bin/cc"}})
	for c := range b.Blobs {
		content = c
	}
	return content, file
}

func read(b blob.Blob) (got []byte, err error) {
	r, err := b.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}

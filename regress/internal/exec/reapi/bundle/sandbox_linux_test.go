package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
)

// layOut makes the root of an action's input, of what travels and a work folder.
func layOut(t *testing.T, b *bundle.Bundle, sources map[string]string) string {
	t.Helper()
	root := t.TempDir()
	contents := map[blob.Digest][]byte{}
	for c := range b.Blobs {
		r, err := c.Reader()
		if err != nil {
			t.Fatal(err)
		}
		contents[c.Digest], err = io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write := func(at string, content []byte, mode os.FileMode) {
		t.Helper()
		to := filepath.Join(root, at)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range travels(t, b) {
		if p.target != "" {
			to := filepath.Join(root, p.path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Symlink(p.target, to)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		mode := os.FileMode(0o444)
		if p.exec {
			mode = 0o555
		}
		write(p.path, contents[p.digest], mode)
	}
	for at, text := range sources {
		write("work/"+at, []byte(text), 0o644)
	}
	return root
}

// ran starts a command of the bundle where nothing is but what travelled.
func ran(t *testing.T, b *bundle.Bundle, sources map[string]string, args ...string) (stdout string, root string) {
	t.Helper()
	sandbox := need(t, "bwrap")
	root = layOut(t, b, sources)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), sandbox, append([]string{"--unshare-all", "--clearenv", "--bind", root, "/", "--dev", "/dev", "--proc", "/proc", "--chdir", "/work"}, b.Args(args)...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", b.Args(args), err, errs.Bytes())
	}
	return out.String(), root
}

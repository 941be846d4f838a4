package bundle_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"muster/regress"
	muster "muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/bundle"
)

// there is a command that the workers have.
func there() *muster.Command {
	return &muster.Command{Words: []string{"/usr/bin/cc"}, Path: "/usr/bin/cc"}
}

// kit makes a folder as it may be given, beside one with a file lib.
func kit(t *testing.T) (kit, outside string) {
	t.Helper()
	kit, outside = filepath.Join(t.TempDir(), "kit"), t.TempDir()
	at := func(name string) string { return filepath.Join(kit, name) }
	if err := errors.Join(
		os.MkdirAll(at("include/empty"), 0o755),
		os.WriteFile(at("include/a.h"), []byte("a"), 0o644),
		os.WriteFile(at("cc"), []byte("tool"), 0o755),
		os.Symlink("include/a.h", at("short.h")),
		os.Symlink(at("include"), at("inc")),
		os.Symlink("nowhere", at("dangling")),
		os.Symlink("loop", at("loop")),
		os.Symlink("cc/below", at("below")),
		syscall.Mkfifo(at("pipe"), 0o644),
		os.WriteFile(filepath.Join(outside, "lib"), []byte("elsewhere"), 0o644),
		os.Symlink(filepath.Join(outside, "lib"), at("lib")),
	); err != nil {
		t.Fatal(err)
	}
	return kit, outside
}

// All of a folder travels: links that stay in it as links, in the place of others the file.
func TestInputFolder(t *testing.T) {
	kit, _ := kit(t)
	var notes []string
	b := made(t, bundle.Options{Inputs: []string{kit}, Command: there(), Note: func(n string) { notes = append(notes, n) }})
	var got []string
	for _, p := range travels(t, b) {
		got = append(got, p.String())
	}
	want := []string{"tool/in/kit/cc*", "tool/in/kit/inc -> include", "tool/in/kit/include/a.h", "tool/in/kit/lib", "tool/in/kit/short.h -> include/a.h"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if len(notes) != 2 || !strings.Contains(notes[1], "4 links to nothing, sockets, pipes and devices are not sent") {
		t.Errorf("%q", notes)
	}
	if rootOf(t, b).Sub("tool/in/kit/include/empty") == nil {
		t.Error("the empty folder is gone")
	}
}

// Where the path of an input stands in an argument, the path on a worker is put.
func TestInputPathsAreMoved(t *testing.T) {
	kit, _ := kit(t)
	cc := filepath.Join(kit, "cc")
	b := made(t, bundle.Options{Inputs: []string{kit}, Command: &muster.Command{Words: []string{cc}, Path: cc}})
	args := b.Args([]string{cc, "-I" + kit + "/include", "--sysroot=" + kit, kit + "sack", "-B", kit, "x" + kit})
	want := []string{"../tool/in/kit/cc", "-I../tool/in/kit/include", "--sysroot=../tool/in/kit", kit + "sack", "-B", "../tool/in/kit", "x" + kit}
	if !slices.Equal(args, want) {
		t.Errorf("%q\nwant %q", args, want)
	}
}

func TestInputsRefused(t *testing.T) {
	kit, outside := kit(t)
	large := filepath.Join(outside, "large")
	if err := errors.Join(os.Symlink(outside, filepath.Join(kit, "away")), os.WriteFile(large, nil, 0o644), os.Truncate(large, 9<<30)); err != nil {
		t.Fatal(err)
	}
	for name, inputs := range map[string][]string{
		"a link to a folder outside": {kit},
		"not there":                  {filepath.Join(kit, "none")},
		"a link to itself":           {filepath.Join(kit, "loop")},
		"a pipe":                     {filepath.Join(kit, "pipe")},
		"below a file":               {filepath.Join(kit, "cc", "below")},
		"everything":                 {"/"},
		"two of one name":            {filepath.Join(outside, "lib"), filepath.Join(kit, "lib")},
		"too large":                  {large},
	} {
		if _, err := bundle.Make(t.Context(), bundle.Options{Inputs: inputs, Command: there()}); regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), filepath.Base(inputs[0])) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	muster "muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
	"muster/regress/internal/fault"
)

// need finds a program on this machine.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("MUSTER_REQUIRE") == "all" {
		t.Fatalf("%s is not there, and MUSTER_REQUIRE=all", program)
	}
	t.Skipf("%s is not there", program)
	return ""
}

func command(t *testing.T, words ...string) *muster.Command {
	t.Helper()
	need(t, words[0])
	c, err := muster.Resolve(words, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func made(t *testing.T, o bundle.Options) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

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
	for _, f := range b.Files() {
		if f.Target != "" {
			to := filepath.Join(root, f.Path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Symlink(f.Target, to)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		mode := os.FileMode(0o444)
		if f.Exec {
			mode = 0o555
		}
		write(f.Path, contents[f.Digest], mode)
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

// A bundled tool counts characters as it does here.
func TestLocaleTravels(t *testing.T) {
	sandbox := need(t, "bwrap")
	b := made(t, bundle.Options{Command: command(t, "wc", "-m"), Bundle: true})
	root := layOut(t, b, map[string]string{"a": "é"})
	cmd := exec.CommandContext(t.Context(), sandbox, append([]string{
		"--unshare-all", "--clearenv", "--setenv", "LC_ALL", "C.UTF-8", "--setenv", "LOCPATH", b.LocalePath(), "--bind", root, "/", "--chdir", "/work",
	}, b.Args([]string{"wc", "-m", "a"})...)...)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "1 a\n" {
		t.Errorf("%s, %v", out, err)
	}
	if b := made(t, bundle.Options{Command: command(t, need(t, "wc"))}); b.LocalePath() != "" {
		t.Error("nothing travels but a locale")
	}
}

func TestProgramsRunInAnEmptySandbox(t *testing.T) {
	const source = "int main(void) { return 0; }\n"
	t.Run("cat", func(t *testing.T) {
		b := made(t, bundle.Options{Command: command(t, "cat"), Bundle: true})
		if out, _ := ran(t, b, map[string]string{"a.c": source}, "cat", "a.c"); out != source {
			t.Errorf("%q", out)
		}
	})
	t.Run("tcc", func(t *testing.T) {
		b := made(t, bundle.Options{Command: command(t, "tcc"), Bundle: true})
		_, root := ran(t, b, map[string]string{"a.c": source}, "tcc", "-c", "a.c", "-o", "a.o")
		here := filepath.Join(t.TempDir(), "a.o")
		local := exec.CommandContext(t.Context(), "tcc", "-c", "a.c", "-o", here)
		local.Dir = filepath.Join(root, "work")
		if out, err := local.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want, err := os.ReadFile(here)
		got, err2 := os.ReadFile(filepath.Join(root, "work/a.o"))
		if err != nil || err2 != nil || len(got) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%d bytes there, %d here: %v, %v", len(got), len(want), err, err2)
		}
	})
	t.Run("gofmt, static", func(t *testing.T) {
		b := made(t, bundle.Options{Command: command(t, "gofmt"), Bundle: true})
		if n := len(b.Files()); n != 1 {
			t.Errorf("%d files travel", n)
		}
		if out, _ := ran(t, b, map[string]string{"a.go": "package  a\n"}, "gofmt", "a.go"); out != "package a\n" {
			t.Errorf("%q", out)
		}
	})
	t.Run("a shell's script", func(t *testing.T) {
		script := filepath.Join(t.TempDir(), "tool")
		if err := os.WriteFile(script, []byte("#!/bin/sh -e\necho \"got $1\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		var notes []string
		b := made(t, bundle.Options{Command: command(t, script), Bundle: true, Note: func(n string) { notes = append(notes, n) }})
		if out, _ := ran(t, b, map[string]string{"a": ""}, script, "a"); out != "got a\n" || len(notes) != 1 {
			t.Errorf("%q, notes %q", out, notes)
		}
	})
	t.Run("standard input", func(t *testing.T) {
		c := command(t, "cat")
		c.Stdin = true
		b := made(t, bundle.Options{Command: c, Bundle: true})
		sandbox := need(t, "bwrap")
		root := layOut(t, b, map[string]string{"a.c": source})
		args := append([]string{"--unshare-all", "--clearenv", "--bind", root, "/", "--dev", "/dev", "--chdir", "/work"}, b.Shell()...)
		args = append(append(args, "-c", `exec "$@" <"$0"`, "a.c"), b.Args([]string{"cat"})...)
		if out, err := exec.CommandContext(t.Context(), sandbox, args...).Output(); err != nil || string(out) != source {
			t.Errorf("%q, %v", out, err)
		}
	})
}

// The zeroth argument is what it is here, where the loader can say so: tools print it.
func TestZerothArgument(t *testing.T) {
	b := made(t, bundle.Options{Command: command(t, "cat"), Bundle: true})
	args := b.Args([]string{"cat", "{in}"})
	if i := slices.Index(args, "--argv0"); i < 0 || args[i+1] != "cat" || args[i+2] != "../tool/bin/cat" || args[len(args)-1] != "{in}" {
		t.Errorf("%q", args)
	}
}

// What cannot run alone is refused with what to do, and not sent to fail case by case.
func TestProgramsThatAreNotWholeAreRefused(t *testing.T) {
	for program, want := range map[string]string{"gcc": "looks for cc1", "/usr/bin/python3": "Python looks for", "perl": "Perl looks for"} {
		t.Run(filepath.Base(program), func(t *testing.T) {
			_, err := bundle.Make(t.Context(), bundle.Options{Command: command(t, program), Bundle: true})
			if fault.ClassOf(err) != fault.Input || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--remote-input") {
				t.Errorf("%v", err)
			}
		})
	}
	shell := command(t, "sh")
	shell.Shell = true
	if _, err := bundle.Make(t.Context(), bundle.Options{Command: shell, Bundle: true}); fault.ClassOf(err) != fault.Input {
		t.Errorf("a shell: %v", err)
	}
	if _, err := bundle.Make(t.Context(), bundle.Options{Command: command(t, "cat")}); fault.ClassOf(err) != fault.Input || !strings.Contains(err.Error(), "--remote-bundle") {
		t.Errorf("a name that is looked for in PATH, and not sent: %v", err)
	}
}

// A library that lies beside its program travels, found by $ORIGIN, and so does what that
// library needs in turn: by its own list, or, in the old form of it, by the program's.
func TestLibrariesBesideTheProgram(t *testing.T) {
	for name, flags := range map[string]struct{ library, program string }{
		"RUNPATH": {"-Wl,-rpath,$ORIGIN", "-Wl,-rpath,$ORIGIN"},
		"RPATH":   {"-Wl,-z,defs", "-Wl,--disable-new-dtags,-rpath,$ORIGIN"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := linked(t, flags.library, flags.program)
			b := made(t, bundle.Options{Command: command(t, filepath.Join(dir, "program")), Bundle: true})
			if out, _ := ran(t, b, map[string]string{"a": ""}, "program"); out != "7\n" {
				t.Errorf("%q", out)
			}
			if err := os.Remove(filepath.Join(dir, "libinner.so")); err != nil {
				t.Fatal(err)
			}
			_, err := bundle.Make(t.Context(), bundle.Options{Command: command(t, filepath.Join(dir, "program")), Bundle: true})
			if fault.ClassOf(err) != fault.Input || !strings.Contains(err.Error(), "libinner.so") {
				t.Errorf("%v", err)
			}
		})
	}
}

// linked makes a program that needs a library that needs another.
func linked(t *testing.T, library, program string) (dir string) {
	t.Helper()
	cc := need(t, "gcc")
	dir = t.TempDir()
	for name, text := range map[string]string{
		"inner.c": "int inner(void) { return 7; }\n",
		"outer.c": "int inner(void); int outer(void) { return inner(); }\n",
		"main.c":  "#include <stdio.h>\nint outer(void); int main(void) { printf(\"%d\\n\", outer()); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-shared", "-fPIC", "inner.c", "-o", "libinner.so"},
		{"-shared", "-fPIC", "outer.c", "-o", "libouter.so", "-L.", "-linner", library},
		{"main.c", "-o", "program", "-L.", "-louter", program, "-Wl,-rpath-link,."},
	} {
		cmd := exec.CommandContext(t.Context(), cc, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	outside := t.TempDir()
	mustDo := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, "kit", name) }
	mustDo(
		os.MkdirAll(at("include/empty"), 0o755),
		os.WriteFile(at("include/a.h"), []byte("a"), 0o644),
		os.WriteFile(at("cc"), []byte("tool"), 0o755),
		os.Symlink("include/a.h", at("short.h")),
		os.Symlink(at("include"), at("inc")),
		os.Symlink("nowhere", at("dangling")),
		os.WriteFile(filepath.Join(outside, "lib"), []byte("elsewhere"), 0o644),
		os.Symlink(filepath.Join(outside, "lib"), at("lib")),
	)
	var notes []string
	o := bundle.Options{Inputs: []string{filepath.Join(dir, "kit")}, Note: func(n string) { notes = append(notes, n) }}
	b := made(t, o)
	var got []string
	for _, f := range b.Files() {
		text := f.Path
		if f.Target != "" {
			text += " -> " + f.Target
		} else if f.Exec {
			text += "*"
		}
		got = append(got, text)
	}
	want := []string{"tool/in/kit/cc*", "tool/in/kit/inc -> include", "tool/in/kit/include/a.h", "tool/in/kit/lib", "tool/in/kit/short.h -> include/a.h"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if len(notes) != 2 {
		t.Errorf("%q", notes)
	}
	var d tree.Builder
	if err := b.Place(&d); err != nil {
		t.Fatal(err)
	}
	root, err := d.Build()
	if err != nil || root.Sub("tool/in/kit/include/empty") == nil {
		t.Errorf("the empty folder is gone: %v", err)
	}
	kit := filepath.Join(dir, "kit")
	args := b.Args([]string{at("cc"), "-I" + kit + "/include", "--sysroot=" + kit, kit + "sack", "-B", kit, "x" + kit})
	want = []string{"../tool/in/kit/cc", "-I../tool/in/kit/include", "--sysroot=../tool/in/kit", kit + "sack", "-B", "../tool/in/kit", "x" + kit}
	if !slices.Equal(args, want) {
		t.Errorf("%q\nwant %q", args, want)
	}
	mustDo(os.Symlink(outside, at("away")))
	for name, o := range map[string]bundle.Options{
		"a link to a folder outside": o,
		"not there":                  {Inputs: []string{filepath.Join(dir, "none")}},
		"everything":                 {Inputs: []string{"/"}},
		"two of one name":            {Inputs: []string{filepath.Join(outside, "lib"), filepath.Join(dir, "kit", "lib")}},
		"too many":                   {Inputs: []string{at("include/a.h"), at("cc")}, Limits: bundle.Limits{Files: 1}},
		"too large":                  {Inputs: []string{at("include/a.h"), at("cc")}, Limits: bundle.Limits{Bytes: 4}},
	} {
		if _, err := bundle.Make(t.Context(), o); fault.ClassOf(err) != fault.Input {
			t.Errorf("%s: %v", name, err)
		}
	}
}

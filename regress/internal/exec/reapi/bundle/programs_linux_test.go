package bundle_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec/reapi/bundle"
)

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
		if n := len(travels(t, b)); n != 1 {
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
		args := append([]string{"--unshare-all", "--clearenv", "--bind", root, "/", "--dev", "/dev", "--chdir", "/work"}, b.CaseArgs(c, "a.c")...)
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
			if regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "[engine]") {
				t.Errorf("%v", err)
			}
		})
	}
	shell := command(t, "sh")
	shell.Shell = true
	if _, err := bundle.Make(t.Context(), bundle.Options{Command: shell, Bundle: true}); regress.ClassOf(err) != regress.Input {
		t.Errorf("a shell: %v", err)
	}
	if _, err := bundle.Make(t.Context(), bundle.Options{Command: command(t, "cat")}); regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), "bundle") {
		t.Errorf("a name that is looked for in PATH, and not sent: %v", err)
	}
}

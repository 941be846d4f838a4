package bundle_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/regress"
	"muster/regress/internal/exec"
	"muster/regress/internal/exec/reapi/bundle"
	"muster/regress/internal/exec/reapi/tree"
)

// The first line is taken as the kernel takes it, however short the script is.
func TestScriptsAreStarted(t *testing.T) {
	for line, want := range map[string][]string{
		"#!/bin/sh":                     nil,
		"#! /bin/sh\t-e ":               {"-e"},
		"#!/usr/bin/env sh":             nil,
		"#!/usr/bin/env -S sh -e -u":    {"-e", "-u"},
		"#!/bin/sh -c 'two words'  \t ": {"-c 'two words'"},
	} {
		b, script, err := scripted(t, line+"\n")
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		args := b.Args([]string{script, "x"})
		want = append(append([]string{"../tool/bin/sh"}, want...), "../tool/bin/tool", "x")
		if i := slices.Index(args, "../tool/bin/sh"); i < 0 || !slices.Equal(args[i:], want) {
			t.Errorf("%q: %q, want %q at the end", line, args, want)
		}
	}
}

// What the kernel would not start, or what would need more than travels, is refused with the
// reason.
func TestScriptsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "neither a whole ELF program nor a script",
		"echo hi\n":                   "neither a whole ELF program nor a script",
		"\x7fELF\x02\x01\x01":         "neither a whole ELF program nor a script",
		"#!\n":                        "neither a whole ELF program nor a script",
		"#!/no/such/interpreter\n":    "/no/such/interpreter cannot be read: no such file",
		"#!/bin/sh\r\necho hi\r\n":    "/bin/sh%0D cannot be read: no such file",
		"#!sh\n":                      "sh has no absolute path",
		"#!/usr/bin/env -i sh\n":      "asks env for more than a program",
		"#!/usr/bin/env no-such-sh\n": "no-such-sh is not found",
		"#!/usr/bin/ldd\n":            "is a script itself",
	} {
		if _, script, err := scripted(t, text); regress.ClassOf(err) != regress.Input || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), script) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A tool may be called as the shell that interprets it, or that opens a source for it.
func TestToolThatIsCalledAsTheShell(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "sh")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := made(t, bundle.Options{Command: &exec.Command{Words: []string{tool}, Path: tool}, Bundle: true})
	if args := b.Args([]string{tool}); args[len(args)-1] != "../tool/bin/other/sh" || args[len(args)-2] != "../tool/bin/sh" {
		t.Errorf("%q", args)
	}
	travels(t, b)
}

// A name that no engine can be sent is told as the user knows it.
func TestNameThatCannotBeSent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\xff"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := made(t, bundle.Options{Inputs: []string{dir}, Command: &exec.Command{Words: []string{"/bin/cc"}, Path: "/bin/cc"}}).Place(&tree.Builder{})
	if regress.ClassOf(err) != regress.Input || !strings.HasPrefix(err.Error(), filepath.Join(dir, "a%FF")+" cannot be sent along: ") {
		t.Errorf("%v", err)
	}
}

// Rights that only this machine gives are told of.
func TestSetuidIsTold(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tool, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	var notes []string
	made(t, bundle.Options{Command: &exec.Command{Words: []string{tool}, Path: tool}, Bundle: true, Note: func(n string) { notes = append(notes, n) }})
	if !slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, tool) && strings.Contains(n, "setuid") }) {
		t.Errorf("%q", notes)
	}
}

// scripted bundles a script of this text.
func scripted(t *testing.T, text string) (b *bundle.Bundle, script string, err error) {
	t.Helper()
	script = filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	b, err = bundle.Make(t.Context(), bundle.Options{Command: &exec.Command{Words: []string{script}, Path: script}, Bundle: true})
	return b, script, err
}

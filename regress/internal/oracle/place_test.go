package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// modelPlace is the folder in which rounds run, one after another.
type modelPlace struct {
	dir    string
	serial int
	memory []byte // of mappedFile
}

// passed is the variable that commands are passed.
const passed = "MUSTER_ORACLE"

// newPlace makes the folder, in memory where the system has a place there, and makes its
// folder bin part of PATH.
func newPlace(t *testing.T) *modelPlace {
	dir, err := os.MkdirTemp("/dev/shm", "oracle-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	t.Setenv(passed, "")
	p := &modelPlace{dir: dir}
	for _, folder := range []string{"kept", "spare", "mapped"} {
		err := errors.Join(os.Mkdir(p.path(folder), 0o755), os.WriteFile(p.path(folder+"/data"), []byte(folder+" file"), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(p.path(mappedFile), os.O_RDWR, 0)
	if err == nil {
		p.memory, err = syscall.Mmap(int(f.Fd()), 0, len(mappedText), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(p.memory) })
	return p
}

// mappedFile is a file of the command that this process has mapped: its content changes, and nothing else.
const (
	mappedFile = "mapped/data"
	mappedText = "mapped file"
)

func (p *modelPlace) path(name string) string { return filepath.Join(p.dir, name) }

// clear leaves a corpus of the cases and the files of the command, and nothing else.
func (p *modelPlace) clear(cases []string) error {
	for _, name := range []string{"src", "state", "parts", "g", "g.part"} {
		if err := os.RemoveAll(p.path(name)); err != nil {
			return err
		}
	}
	var err error
	for _, folder := range []string{"src", "bin"} {
		err = errors.Join(err, os.MkdirAll(p.path(folder), 0o755))
	}
	for _, name := range cases {
		err = errors.Join(err, p.write("src/"+name))
	}
	for _, f := range writtenFiles {
		err = errors.Join(err, p.write(f))
	}
	return err
}

// keptFile is a file of the command whose digest is remembered: nobody writes to it, but
// another file takes its place.
const keptFile = "kept/data"

// writtenFiles are the files that a command in this place names or needs, and that each
// round writes.
var writtenFiles = []string{"bin/tool", "bin/interpreter", "bin/plugin", "bin/runner", "script"}

// commandFiles lists the files by whose change the command becomes another.
func (p *modelPlace) commandFiles() []string {
	return append(slices.Clone(writtenFiles), keptFile, mappedFile)
}

// texts returns what the files of the command hold, by path.
func (p *modelPlace) texts() (map[string]string, error) {
	texts := map[string]string{}
	for _, name := range p.commandFiles() {
		text, err := os.ReadFile(p.path(name))
		if err != nil {
			return nil, err
		}
		texts[p.path(name)] = string(text)
	}
	return texts, nil
}

// write replaces a file by another of another length, so that nobody takes it for the old one.
func (p *modelPlace) write(name string) error {
	if name == keptFile {
		return p.exchange()
	}
	p.serial++
	if name == mappedFile {
		copy(p.memory, fmt.Sprintf("%*d", len(p.memory), p.serial))
		return nil
	}
	text := "# " + strings.Repeat("x", 1+p.serial%1000) + "\n"
	switch name {
	case "bin/tool":
		text = "#!" + p.path("bin/interpreter") + "\n" + text
	case "bin/interpreter":
		text = "#!/bin/sh\nexec /bin/sh \"$@\"\n" + text
	case "bin/runner":
		text = "#!/bin/sh\n" + text
	case "bin/plugin":
		text = "#!/usr/bin/env runner\n" + text
	}
	return p.replace(name, text)
}

// exchange swaps a file with the kept one. It writes to neither.
func (p *modelPlace) exchange() error {
	return errors.Join(
		os.Rename(p.path("kept"), p.path("exchanged")),
		os.Rename(p.path("spare"), p.path("kept")),
		os.Rename(p.path("exchanged"), p.path("spare")))
}

// touch replaces a file by one that holds the same.
func (p *modelPlace) touch(name string) error {
	text, err := os.ReadFile(p.path(name))
	if err != nil {
		return err
	}
	return p.replace(name, string(text))
}

func (p *modelPlace) replace(name, text string) error {
	if err := os.WriteFile(p.path("new"), []byte(text), 0o755); err != nil {
		return err
	}
	return os.Rename(p.path("new"), p.path(name))
}

// words is the command, with its executable by its path or, for a shell, in PATH. The shell
// makes room for it: it would turn a signal into an exit status.
func (p *modelPlace) words(shell bool) []string {
	words := []string{p.path("bin/tool"), "--script=" + p.path("script"), "plugin", "{in}"}
	if shell {
		words = append([]string{"exec", "tool"}, words[1:]...)
	}
	return words
}

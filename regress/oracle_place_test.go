package regress

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// modelPlace is the folder in which rounds run, one after another.
type modelPlace struct {
	dir    string
	serial int
	actor  string // what bin/tool does, where it really runs
}

// passed is the variable that commands are passed.
const passed = "MUSTER_ORACLE"

// newPlace makes the folder, in memory where the system has a place there, and makes its bin
// part of PATH.
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
	return &modelPlace{dir: dir}
}

func (p *modelPlace) path(name string) string { return filepath.Join(p.dir, name) }

// clear leaves a corpus of the cases and the files of the command, and nothing else.
func (p *modelPlace) clear(cases []string) error {
	for _, name := range []string{"src", "state", "g", "g.part"} {
		if err := os.RemoveAll(p.path(name)); err != nil {
			return err
		}
	}
	err := errors.Join(os.MkdirAll(p.path("src"), 0o755), os.MkdirAll(p.path("bin"), 0o755))
	for _, name := range cases {
		err = errors.Join(err, p.write("src/"+name))
	}
	for _, f := range commandFiles {
		err = errors.Join(err, p.write(f))
	}
	return err
}

// commandFiles are the files that a command in this place names or needs.
var commandFiles = []string{"bin/tool", "bin/interpreter", "bin/plugin", "script"}

// write replaces a file by another of another length, so that nobody takes it for the old one.
func (p *modelPlace) write(name string) error {
	p.serial++
	text := "# " + strings.Repeat("x", 1+p.serial%1000) + "\n"
	switch name {
	case "bin/tool":
		text = "#!" + p.path("bin/interpreter") + "\n" + p.actor + text
	case "bin/interpreter":
		text = "#!/bin/sh\nexec /bin/sh \"$@\"\n" + text
	case "bin/plugin":
		text = "#!/bin/sh\n" + text
	}
	return p.replace(name, text)
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
	words := []string{p.path("bin/tool"), p.path("script"), "plugin", "{in}"}
	if shell {
		words = append([]string{"exec", "tool"}, words[1:]...)
	}
	return words
}

package exec

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/fault"
)

// Shell runs the commands that ask for one. POSIX gives it this path nearly
// everywhere, and a fixed one keeps the command's identity independent of PATH.
const Shell = "/bin/sh"

// Command is a command line in which the tokens {in}, {out}, {stem}, {name} and
// {dir} stand for a case, resolved to an executable. It is not changed after
// Resolve.
type Command struct {
	Words []string // as given
	Shell bool     // the words, joined by spaces, are a shell's script
	Stdin bool     // the source is the standard input

	Path string // absolute path of the executable (the shell's, if Shell)
	Here bool   // the executable is a file of this machine
}

// Resolve finds the executable of a command: in the caller's PATH, or, for a
// name with a slash, from the caller's folder.
func Resolve(words []string, useShell, stdin bool) (*Command, error) {
	if len(words) == 0 || words[0] == "" {
		return nil, fault.Inputf("no command: name it after --, as in -- gofmt {in}, or as command in muster.toml")
	}
	name := words[0]
	if useShell {
		name = Shell
	}
	c, err := resolve(name, &Command{Words: words, Shell: useShell, Stdin: stdin})
	if err != nil && !useShell && len(strings.Fields(name)) > 1 {
		err = fmt.Errorf("%w: %s", err, oneWord(name))
	}
	return c, err
}

// ResolveAt is Resolve of a command whose executable is known by its absolute path, and
// that no shell runs.
func ResolveAt(path string, words []string, stdin bool) (*Command, error) {
	return resolve(path, &Command{Words: words, Stdin: stdin})
}

// Elsewhere is a command of other machines: nothing is looked up here, and its executable
// is known by the path there alone.
func Elsewhere(words []string, useShell, stdin bool) (*Command, error) {
	c := &Command{Words: words, Shell: useShell, Stdin: stdin, Path: Shell}
	switch {
	case len(words) == 0 || words[0] == "":
		return Resolve(words, useShell, stdin) // which says so
	case !useShell:
		c.Path = words[0]
	}
	return c, nil
}

// Locate returns the absolute path of what a command's first word runs.
func Locate(name string) (string, error) {
	found, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(found)
}

func resolve(name string, c *Command) (*Command, error) {
	var err error
	if c.Path, err = Locate(name); err != nil {
		if e := (*exec.Error)(nil); errors.As(err, &e) {
			err = e.Err // the rest repeats the name
		}
		return nil, fault.Environmentf("command %q cannot be run: %w", name, fault.Reason(err))
	}
	info, err := os.Stat(c.Path)
	switch {
	case err != nil:
		return nil, fault.Environmentf("command %q cannot be read: %w", name, fault.Reason(err))
	case !info.Mode().IsRegular(): // to read a pipe might never end
		return nil, fault.Environmentf("command %q cannot be run: it is no file", name)
	}
	c.Here = true
	return c, nil
}

// Same reports whether two commands do the same with every case.
func (c *Command) Same(other *Command) bool {
	return slices.Equal(c.Words, other.Words) && c.Shell == other.Shell && c.Stdin == other.Stdin && c.Path == other.Path
}

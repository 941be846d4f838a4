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

// Shell runs the commands that ask for a shell. POSIX has it at this path nearly everywhere. A
// fixed path keeps the command's identity independent of PATH.
const Shell = "/bin/sh"

// Command is a command line whose tokens {in}, {out}, {stem}, {name} and {dir} are replaced
// for each case, with its executable. It does not change after Resolve.
type Command struct {
	Words []string // as given
	Shell bool     // the words, joined by spaces, are a shell script
	Stdin bool     // the source is the standard input

	Path    string // absolute path of the executable (the shell's, if Shell)
	IsLocal bool   // the executable is a file of this machine
}

// Resolve finds the executable of a command in the caller's PATH. A name with a slash is
// relative to the caller's folder.
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
		err = fmt.Errorf("%w: %s", err, oneWordHint(name))
	}
	return c, err
}

// ResolveAt returns a command whose executable has this absolute path, and that no shell runs.
func ResolveAt(path string, words []string, stdin bool) (*Command, error) {
	return resolve(path, &Command{Words: words, Stdin: stdin})
}

// ResolveRemote returns a command for other machines. Nothing is looked up here: the path of
// its executable is valid there.
func ResolveRemote(words []string, useShell, stdin bool) (*Command, error) {
	c := &Command{Words: words, Shell: useShell, Stdin: stdin, Path: Shell}
	switch {
	case len(words) == 0 || words[0] == "":
		return Resolve(words, useShell, stdin) // it returns the error for a missing command
	case !useShell:
		c.Path = words[0]
	}
	return c, nil
}

// Locate returns the absolute path of the executable that a command's first word names.
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
	case !info.Mode().IsRegular(): // reading a pipe might never end
		return nil, fault.Environmentf("command %q cannot be run: it is not a file", name)
	}
	c.IsLocal = true
	return c, nil
}

// Same reports whether two commands do the same with every case.
func (c *Command) Same(other *Command) bool {
	return slices.Equal(c.Words, other.Words) && c.Shell == other.Shell && c.Stdin == other.Stdin && c.Path == other.Path
}

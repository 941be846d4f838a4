package exec

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/outcome"
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

	Path   string         // absolute path of the executable (the shell's, if Shell)
	Digest outcome.Digest // of the executable

	info fs.FileInfo // of the executable, before it was read
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
	return resolve(name, &Command{Words: words, Shell: useShell, Stdin: stdin})
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

func resolve(name string, c *Command) (*Command, error) {
	found, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = nil
	}
	if err != nil {
		if e := (*exec.Error)(nil); errors.As(err, &e) {
			err = e.Err // the rest repeats the name
		}
		return nil, fault.Environmentf("command %q cannot be run: %w", name, fault.Reason(err))
	}
	if c.Path, err = filepath.Abs(found); err != nil {
		return nil, fault.Environmentf("command %q: %w", name, err)
	}
	if c.info, err = os.Stat(c.Path); err == nil {
		if !c.info.Mode().IsRegular() { // to read a pipe might never end
			return nil, fault.Environmentf("command %q cannot be run: it is no file", name)
		}
		c.Digest, err = digestFile(c.Path)
	}
	if err != nil {
		return nil, fault.Environmentf("command %q cannot be read: %w", name, fault.Reason(err))
	}
	return c, nil
}

// Same reports whether two commands do the same with every case.
func (c *Command) Same(other *Command) bool {
	return slices.Equal(c.Words, other.Words) && c.Shell == other.Shell && c.Stdin == other.Stdin && c.Path == other.Path
}

// Stamp tells, without reading it, whether the executable is still the file that
// Resolve found: one that was replaced and put back meanwhile is another.
func (c *Command) Stamp() string {
	if c.info == nil {
		return "" // not of Resolve
	}
	return filestamp.Of(c.info)
}

// StampNow is what Stamp would be if the command was resolved now; of one that is
// gone it is that, for it can have been no other.
func (c *Command) StampNow() string {
	info, err := os.Stat(c.Path)
	if err != nil || c.info == nil {
		return c.Stamp()
	}
	return filestamp.Of(info)
}

// Changed returns an error of class Input when the executable is no longer the
// one that Resolve found: what it left so far may come from either. It reads the
// file only when its identity, size or time changed. One that is gone is no
// other: what it could not run has failed already.
func (c *Command) Changed() error {
	if c.info == nil {
		return nil // what has its name here is another
	}
	now, err := os.Stat(c.Path)
	if err == nil && os.SameFile(now, c.info) && now.Size() == c.info.Size() && now.ModTime().Equal(c.info.ModTime()) {
		return nil
	}
	if err == nil && now.Mode().IsRegular() { // else reading it might never end
		var d outcome.Digest
		if d, err = digestFile(c.Path); err == nil && d == c.Digest {
			return nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.Environmentf("command %s: %w", c.Path, fault.Reason(err))
	}
	return fault.Inputf("command %s changed while it ran: run again when nothing builds it", c.Path)
}

func digestFile(file string) (d outcome.Digest, err error) {
	f, err := os.Open(file)
	if err != nil {
		return d, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return d, fmt.Errorf("read %s: %w", file, err)
	}
	return outcome.Digest(h.Sum(nil)), nil
}

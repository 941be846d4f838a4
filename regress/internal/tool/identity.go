// Package tool finds the files that make a command what it is: its executables, their
// interpreters and libraries, and the files that its words name. It notices when one of them
// changes.
//
// It knows only the command line and the environment of the cases, so the set is a guess. It
// must not execute anything, nor decide what a change means for a run.
package tool

import (
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
	"muster/regress/internal/outcome"
)

// Role is the reason why a file belongs to a tool.
type Role string

// The roles, a closed set.
const (
	Executable  Role = "executable"  // a command runs it
	Interpreter Role = "interpreter" // of a script
	Loader      Role = "loader"      // of an ELF program
	Library     Role = "library"
	Word        Role = "word"  // a word of a command names it
	Given       Role = "given" // by --tool-file
)

// File is one file of a tool.
type File struct {
	Path     string // absolute, before symbolic links are resolved
	Resolved string // without symbolic links
	Role     Role   // the first of its roles that was found
	Digest   outcome.Digest
	Stamp    string // of package filestamp
}

// Identity is the set of files that make a tool what it is. It does not change after Build,
// and any number of goroutines may use it. A nil Identity has no file.
type Identity struct {
	files []File // by path
	// absent are paths of no file. PATH would find a file there before the one that is used.
	absent []string
}

// Options describe a tool.
type Options struct {
	Commands []*exec.Command
	Env      []string // K=V: the variables of cases beyond their fixed environment
	Add      []string // globs of further files, from the current folder
	Leave    []string // globs of files that do not count
	Alone    bool     // the executables of the commands are the whole tool
	Digests  *filedigest.Cache
}

// Build finds the files of a tool and computes their digests. Its errors are of class Input
// for bad globs and too many files, else of class Environment.
func Build(o Options) (*Identity, error) {
	b, err := newBuilder(o)
	if err != nil {
		return nil, err
	}
	for _, c := range o.Commands {
		if err := b.addCommand(c); err != nil {
			return nil, err
		}
	}
	if err := b.addGiven(); err != nil {
		return nil, err
	}
	o.Digests.Save()
	id := &Identity{absent: b.absent}
	for _, f := range b.files {
		id.files = append(id.files, f)
	}
	slices.SortFunc(id.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return id, nil
}

// Files yields the files by path.
func (id *Identity) Files() iter.Seq[File] {
	if id == nil {
		return func(func(File) bool) {}
	}
	return slices.Values(id.files)
}

// Digest returns the digest of a file by its path, zero for a file that does not belong to
// the tool.
func (id *Identity) Digest(path string) outcome.Digest {
	for f := range id.Files() {
		if f.Path == path {
			return f.Digest
		}
	}
	return outcome.Digest{}
}

// isReal reports whether a path is on a real file system. The kernel makes up the files of
// /proc, /sys and /dev: their times change without a write. Files in /dev/shm are real.
func isReal(path string) bool {
	if strings.HasPrefix(path, "/dev/shm/") {
		return true
	}
	for _, folder := range []string{"/proc/", "/sys/", "/dev/"} {
		if strings.HasPrefix(path, folder) {
			return false
		}
	}
	return true
}

// resolved returns a path without symbolic links.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func isFile(info fs.FileInfo, err error) bool { return err == nil && info.Mode().IsRegular() }

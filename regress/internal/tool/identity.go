// Package tool guesses the files that make a command what it is, where no run of it can be
// observed: its executables, their interpreters and libraries, and the files that its words name.
//
// Input: the command line and the environment of the cases. Output: a closure. It must not execute
// anything, nor decide what a change means for a run.
package tool

import (
	"io/fs"
	"path/filepath"
	"strings"

	"muster/regress/internal/closure"
	"muster/regress/internal/exec"
	"muster/regress/internal/filedigest"
)

// Options describe a tool.
type Options struct {
	Commands []*exec.Command
	Env      []string // K=V: the variables of cases beyond their fixed environment
	Add      []string // globs of further files, from the current folder
	Leave    []string // globs of files that do not count
	Alone    bool     // only the executables of the commands, and Add
	Digests  *filedigest.Cache
}

// Build finds the files of a tool and computes their digests. Its errors are of class Input
// for bad globs and too many files, else of class Environment.
func Build(o Options) (*closure.Closure, error) {
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
	c := &closure.Closure{}
	for _, f := range b.files {
		c.Files = append(c.Files, f)
	}
	for _, path := range b.absent {
		c.Places = append(c.Places, closure.Place{Path: path, State: closure.Own(nil).StateOf(path, false)})
	}
	c.Sort()
	return c, nil
}

// Leave returns a function that reports whether --no-tool-file leaves out a path.
func Leave(o Options) (func(path string) bool, error) {
	b, err := newBuilder(o)
	if err != nil {
		return nil, err
	}
	return b.leave.Match, nil
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

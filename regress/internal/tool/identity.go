// Package tool guesses the files that make a command what it is, where no run of it can be
// observed: its executables, their interpreters and libraries, and the files that its words name.
//
// Input: the command line and the environment of the cases. Output: a closure. It must not execute
// anything, nor decide what a change means for a run.
package tool

import (
	"context"
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
	Digests  *filedigest.Cache
}

// Known returns the executables of the commands and the files of Add, with their digests. Its errors
// are of class Input for bad globs and too many files, else of class Environment.
func Known(o Options) (*closure.Closure, error) {
	b, err := collect(o, (*builder).addExecutables, (*builder).addGiven)
	if err != nil {
		return nil, err
	}
	return b.closure(), nil
}

// Guess returns all that seems to belong to a tool. Its errors are as those of Known.
func Guess(ctx context.Context, o Options) (*closure.Closure, error) {
	b, err := collect(o, (*builder).addExecutables, (*builder).addNamedFiles, (*builder).addGiven)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(b.files); i++ { // also those that it adds
		if err := b.addNeeds(ctx, b.files[i]); err != nil {
			return nil, err
		}
	}
	return b.closure(), nil
}

func collect(o Options, steps ...func(*builder) error) (*builder, error) {
	b, err := newBuilder(o)
	for _, step := range steps {
		if err == nil {
			err = step(b)
		}
	}
	return b, err
}

func (b *builder) closure() *closure.Closure {
	b.o.Digests.Save()
	c := &closure.Closure{Files: b.files}
	for _, path := range b.absent {
		c.Places = append(c.Places, closure.Place{Path: path, State: closure.Own(nil).StateOf(path, false)})
	}
	c.Sort()
	return c
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

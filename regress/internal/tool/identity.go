// Package tool guesses the files that make a command what it is, where no run of it can be
// observed: its executables, their interpreters and libraries, and the files that its words name.
//
// Input: the command line and the environment of the cases. Output: a closure. It must not execute
// anything, nor decide what a change means for a run.
package tool

import (
	"context"

	"muster/regress/internal/closure"
)

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

// Package closure knows the files that make a tool what it is: those that it executes, opens or asks
// for, paths that it asks for in vain, and folders that it lists.
//
// Input: observations of package observe (Gatherer.Add), or the lists of an earlier closure. Output: a
// Closure with digests, and later what differs from it on this machine (Closure.Watch). The package
// must not run anything, nor decide what a change means.
package closure

import (
	"cmp"
	"iter"
	"slices"

	"muster/regress/internal/outcome"
)

// Role is the reason why a file belongs to a tool.
type Role string

// The roles, a closed set, in the order in which a change matters to people.
const (
	Executable  Role = "executable"  // a command runs it
	Word        Role = "word"        // a word of a command names it
	Given       Role = "given"       // by --tool-file
	Program     Role = "program"     // a process of the tool executes it
	Interpreter Role = "interpreter" // of a script
	Loader      Role = "loader"      // of an ELF program
	Library     Role = "library"
	Opened      Role = "opened" // or asked for
)

// Roles returns all roles, in their order.
func Roles() []Role {
	return []Role{Executable, Word, Given, Program, Interpreter, Loader, Library, Opened}
}

// File is a file of a closure.
type File struct {
	Path     string // absolute, before links are resolved
	Resolved string // without links
	Role     Role   // the first of its roles that was found
	Digest   outcome.Digest
	Stamp    string // of package filestamp
}

// Place is a path at which it counts what is there, beside files: nothing, a folder, or a folder
// with certain names.
type Place struct {
	Path  string
	State string // of StateOf
	// IsListed says that the names in a folder belong to its state.
	IsListed bool
}

// Closure is what a tool uses. It does not change, and any number of goroutines may use it. A nil
// Closure has no file.
type Closure struct {
	Files   []File   // by path
	Places  []Place  // by path
	Varying []string // paths that are left out, sorted: they changed between two observed runs
	// Own are paths of muster itself, which come and go in listed folders.
	Own Own
}

// Own is a set of paths. Their names do not count in listed folders.
type Own map[string]bool

// Sort brings the lists into their order.
func (c *Closure) Sort() {
	slices.SortFunc(c.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(c.Places, func(a, b Place) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(c.Varying)
}

// All yields the files by path.
func (c *Closure) All() iter.Seq[File] {
	if c == nil {
		return func(func(File) bool) {}
	}
	return slices.Values(c.Files)
}

func (c *Closure) places() []Place {
	if c == nil {
		return nil
	}
	return c.Places
}

// Digest returns the digest of a file by its path, zero for a file that does not belong to the tool.
func (c *Closure) Digest(path string) outcome.Digest {
	for f := range c.All() {
		if f.Path == path {
			return f.Digest
		}
	}
	return outcome.Digest{}
}

// With returns a closure that has the files and places of another one too. Those of c count where
// both know a path.
func (c *Closure) With(other *Closure) *Closure {
	if c == nil {
		return other
	}
	known := map[string]bool{}
	for _, f := range c.Files {
		known[f.Path] = true
	}
	for _, p := range c.Places {
		known[p.Path] = true
	}
	sum := &Closure{slices.Clone(c.Files), slices.Clone(c.Places), slices.Clone(c.Varying), other.Own}
	for _, f := range other.Files {
		if !known[f.Path] {
			sum.Files = append(sum.Files, f)
		}
	}
	for _, p := range other.Places {
		if !known[p.Path] {
			sum.Places = append(sum.Places, p)
		}
	}
	for _, path := range other.Varying {
		if !known[path] {
			sum.Varying = append(sum.Varying, path)
		}
	}
	sum.Sort()
	sum.Varying = slices.Compact(sum.Varying)
	return sum
}

// Bounds of one closure.
const (
	pathsMax     = 65_536
	namesMax     = 1 << 20 // of one folder
	fileBytesMax = 64 << 30
)

// Package closure knows the files that make a tool what it is, as observed runs showed them: files
// that were executed, opened or asked for, paths that were asked for in vain, and folders that were
// listed.
//
// Input: observations of package observe (Gatherer.Add). Output: a Closure with digests, and later
// what differs from it on this machine (Closure.Changes). The package must not run anything, nor
// decide what a change means.
package closure

import (
	"muster/regress/internal/outcome"
)

// Closure is what observed runs of a tool used. It does not change, and any number of goroutines may
// use it.
type Closure struct {
	Files   []File   // by path
	Absent  []string // paths, sorted
	Folders []Folder // by path
	Varying []string // paths that are left out, sorted: they changed between two observed runs
	// NoPrivileges says that set-user-ID programs ran without their privileges.
	NoPrivileges bool
	Runs         int // observed
}

// File is a file of a closure.
type File struct {
	Path       string // absolute, as the tool spelled it
	Real       string // without links
	IsExecuted bool   // as a program, an interpreter or a loader
	Digest     outcome.Digest
	Stamp      string // of package filestamp
}

// Folder is a folder whose names the tool listed.
type Folder struct {
	Path  string
	Names outcome.Digest // of the names in it, sorted
}

// Bounds of one closure.
const (
	pathsMax     = 65_536
	namesMax     = 1 << 20 // of one folder
	fileBytesMax = 64 << 30
)

// Package observe finds out which files a command uses while it runs: what it executes, opens, asks for and lists, and
// what it asks for in vain. A filter of the kernel (seccomp) stops the command's processes at the system calls that
// name files. The lane helper reads the name, and lets the call continue.
//
// Input: a command that is about to start. Output: an Observation. The package must not import "os", as a part of the
// lane helper. It must not judge what it saw. Of files it reads only those of the case itself, to find their
// interpreters. It is no security boundary: a command can change the name after it was read.
//
// A stopped call that a signal interrupts at the wrong moment fails with EINTR, which the call alone would not. So the
// outcome of an observed run says nothing, and a run that went another way than the plain one may lack files.
package observe

import "muster/regress/lane/scan"

// Kind says how a command used a path. It is a set of bits.
type Kind uint8

// The kinds.
const (
	Executed  Kind = 1 << iota
	Opened         // for reading, or linked to
	Asked          // stat, access, readlink, or opened only as a place
	Listed         // the names in a folder
	Written        // opened for writing, made, replaced or removed
	Connected      // as a socket

	missed // in vain, in the lane's own /tmp; in no Observation
)

// KindMax has all kinds.
const KindMax = 1<<6 - 1

// Access is one path that a command used. What is there must be looked up after the run: a file
// system that does not answer must not stop the helper.
type Access struct {
	Path string // absolute, as the command spelled it, with its working folder before it
	Kind Kind
	// Folder resolves a relative interpreter path of an Executed file: it is the working folder of the process,
	// or "" if that belongs to the case.
	Folder string
	// Head is the beginning of an Executed file of the case itself. Path is then inside the case.
	Head string
}

// Observation is what one run of a command used outside its own folders, and its own /tmp. The accesses leave out
// files of /proc, /sys and /dev.
type Observation struct {
	Accesses []Access // each path once, in the order of first use
	Contact  string   // an address in the network that the command connected to; "" = none
	Blind    string   // why the list is incomplete; "" = it is complete
	// Missed are paths in the lane's own /tmp that the command asked for in vain, and did not make.
	Missed []string
	// NoPrivileges says that set-user-ID programs ran without their privileges.
	NoPrivileges bool
	// Lost are the first paths opened for writing whose contents are lost: new ones in the lane's own /tmp, and
	// /dev/null. They are at most LostMax.
	Lost   []string
	Events int // system calls that were stopped
}

// Bounds of one observation.
const (
	accessesMax  = 16_384
	pathBytesMax = 8 << 20 // of all paths together
	missedMax    = 64
)

// LostMax bounds the paths in Observation.Lost, and those that a warning of lost output names.
const LostMax = 3

// IsKernels reports whether the kernel makes up the files at a path. /dev/shm holds real ones, and
// /dev/log is the socket of a server.
func IsKernels(path string) bool {
	return isBelow(path, "/proc") || isBelow(path, "/sys") ||
		isBelow(path, "/dev") && !isBelow(path, "/dev/shm") && path != "/dev/log"
}

func isBelow(path, folder string) bool {
	return scan.HasPrefix(path, folder) && (len(path) == len(folder) || path[len(folder)] == '/')
}

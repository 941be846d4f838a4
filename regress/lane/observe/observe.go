// Package observe finds out which files a command uses while it runs: what it executes, opens,
// asks for and lists, and what it asks for in vain. A filter of the kernel (seccomp) stops the
// command's processes at the system calls that name files. The lane helper reads the name, and
// lets the call continue.
//
// Input: a command that is about to start. Output: an Observation. The package must not import
// "os", as a part of the lane helper. It must not judge what it saw, nor read a file. It is no
// security boundary: a command can change the name after it was read.
package observe

// Kind says how a command used a path. It is a set of bits.
type Kind uint8

// The kinds.
const (
	Executed Kind = 1 << iota
	Opened        // for reading
	Asked         // stat, access, readlink, or opened only as a place
	Listed        // the names in a folder
	Written       // opened for writing, made, replaced or removed
)

// KindMax has all kinds.
const KindMax = 1<<5 - 1

// Form is what a path led to when the command first used it.
type Form uint8

// The forms.
const (
	Absent Form = iota // also a link that leads nowhere
	File
	Folder
	Other // a device, a pipe, a socket
)

// Access is one path that a command used.
type Access struct {
	Path string // absolute, as the command spelled it, with its working folder before it
	Real string // without links; "" for Absent
	Kind Kind
	Form Form
}

// Observation is what one run of a command used outside its own folders. Files of /proc, /sys
// and /dev are left out.
type Observation struct {
	Accesses []Access // each path once, in the order of first use
	Contact  string   // an address of a process outside that the command connected to; "" = none
	Blind    string   // why the list is incomplete; "" = it is complete
	// NoPrivileges says that set-user-ID programs ran without their privileges.
	NoPrivileges bool
	Events       int // system calls that were stopped
}

// Bounds of one observation.
const (
	accessesMax  = 16_384
	pathBytesMax = 8 << 20 // of all paths together
)

// Package local runs cases on this machine, in lanes. A lane is a small helper process
// (package lane) with a folder of its own, in memory if it fits. Options and jobs go in,
// results come out.
//
// It must not decide what runs, how often, or what an outcome means.
package local

import (
	"time"

	"muster/regress/internal/corpus"
)

// LanesMax is the largest number of lanes; their folders are numbered with three digits.
const LanesMax = 999

// FilesPerLane is how many files a lane keeps open in this process. They are the socket of its
// jobs, the pipe of its answers, the helper's standard error, the pidfd by which package os
// waits for the helper, and a file that is being digested.
const FilesPerLane = 5

// Canonical is where every case sees its lane's folder, on every machine: the work folder, and
// the empty home and tmp beside it. It is in /tmp, because every machine has that folder, and tools
// use it for files of their own. It is as long as the paths of the lanes' own folders (see
// makeBase), for tools whose output depends on the length of a path.
const Canonical = "/tmp/muster/canonical/lane"

// These begin remarks to Options.Note and Options.Warn.
const (
	WithoutNamespaces = "lanes without namespaces"
	WorkElsewhere     = "lanes work in" // and not in memory
)

// NoPrograms follows the name of a folder, in a remark or in the error of Start.
const NoPrograms = "does not let programs run"

// Options configure the lanes of a crew.
type Options struct {
	Lanes     int
	Helper    []string // command that starts a lane helper: a program that imports muster/regress/lane
	Corpus    *corpus.Corpus
	Env       []string      // K=V, in addition to every case's environment (see environment)
	Visible   []string      // texts whose paths below /tmp cases see, beside those in Env
	Timeout   time.Duration // of a case; more than 0
	Grace     time.Duration // between TERM and KILL
	MemoryMax int64         // bytes, 0 = no limit
	OutputMax int64         // bytes; more than 0
	NoNetwork bool          // cases have only the loopback of their lane
	Shim      string        // the library that makes fork servers; "" = there are none
	Keep      string        // this folder, new or empty, keeps the files of the case; "" = no folder
	Note      func(string)  // receives each thing that the user may want to know, once; may be nil
	Warn      func(string)  // receives each thing that makes lanes slow or less isolated, once, with what helps; may be nil

	plain     bool     // no namespaces, for tests
	patience  patience // zero = usual; for tests
	processes int64    // bound for a case; 0 = usual; for tests
}

// patience bounds the waits for events that may never come. Each is far longer than an overloaded
// machine takes.
type patience struct {
	kill   time.Duration // for a process of the case to end, after KILL or after another has ended
	look   time.Duration // between two looks at a helper that owes an answer
	answer time.Duration // for an overdue answer of a helper
	end    time.Duration // for a helper to end by itself; it may be clearing up after its case
	killed time.Duration // for a helper to end after KILL
}

// usualPatience is the patience outside tests. A helper may make its lane's folder anew before
// a case, so answer is as long as a lane's start may take.
func usualPatience() patience {
	return patience{kill: time.Minute, look: 250 * time.Millisecond, answer: readyPatience, end: 30 * time.Second, killed: 30 * time.Second}
}

const (
	// readyPatience bounds how long a lane may take to place the given files.
	readyPatience = 5 * time.Minute

	// sendPatience bounds how long a helper may leave a job unread. All but the first
	// message fit into the kernel's buffer.
	sendPatience = readyPatience
)

// casePatience is how long a case may take until it is ended and its processes are
// gone.
func (o *Options) casePatience() time.Duration {
	const most = 365 * 24 * time.Hour // a sum of two cannot overflow
	return min(o.Timeout, most) + min(o.Grace, most) + o.patience.kill
}

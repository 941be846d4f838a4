// Package local runs cases on this machine, in lanes: one small helper process
// each (package lane), with a folder of its own, in memory where it fits.
//
// It must not decide what runs, how often, or what an outcome means.
package local

import (
	"time"

	"muster/regress/internal/corpus"
)

// LanesMax is the largest number of lanes; their folders are numbered with
// three digits.
const LanesMax = 999

// FilesPerLane is how many files a lane keeps open in this process: the socket of
// its jobs, the pipe of its answers, what its helper says in dying, the pidfd by
// which package os waits for the helper, and one that is being digested.
const FilesPerLane = 5

// Canonical is where every case sees its lane's folder, on every machine: the
// work folder, and the empty home and tmp beside it. Its length is that of the
// lanes' own folders (see makeBase), for tools that lay out what they write by
// the length of a path.
const Canonical = "/tmp/muster/canonical/lane"

// Options says what the lanes of a crew need to know.
type Options struct {
	Lanes     int
	Helper    []string // command that starts a lane helper: a program that imports muster/regress/lane
	Corpus    *corpus.Corpus
	Env       []string      // K=V, beside what every case gets (see environment)
	Timeout   time.Duration // of a case; more than 0
	Grace     time.Duration // between TERM and KILL
	MemoryMax int64         // bytes, 0 = no limit
	OutputMax int64         // bytes; more than 0
	NoNetwork bool          // cases have no network but a loopback of their lane
	Keep      string        // not empty: this folder, new or empty, stays as the case leaves it
	Note      func(string)  // hears once what the user may want to know; may be nil
	Warn      func(string)  // hears once what makes lanes slow or less apart, and the mend; may be nil

	plain     bool     // no namespaces, for tests
	patience  patience // zero = as usual; for tests
	processes int64    // that a case may have; 0 = as usual; for tests
}

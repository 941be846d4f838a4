package reapi

import (
	"bytes"
	"errors"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

// errNotStarted is of a command that an engine's sandbox did not start, for want of what is
// the worker's to have.
var errNotStarted = errors.New("the engine's sandbox did not start it")

// startsMax is how often one is tried again, past the engine's cache, which may keep that.
const startsMax = 2

// lacks are what a worker may be short of, and not the tool: that this is not there or may
// not be executed is the tool's.
func lacks() []string {
	return []string{
		"Input/output error", "No space left on device", "Cannot allocate memory", "Resource temporarily unavailable",
		"Too many open files", "Too many open files in system", "Stale file handle",
	}
}

// checkStarted returns an error about a result that has a sandbox's words in the place of the command's.
// Bubblewrap, which buildbox has, gives its own failure as the command's. The words are known
// by their digest: nothing is downloaded for it.
func checkStarted(program string, r *repb.ActionResult) error {
	if r.GetExitCode() != 1 || len(r.GetStdoutRaw()) > 0 || r.GetStdoutDigest().GetSizeBytes() > 0 {
		return nil
	}
	for _, lack := range lacks() {
		text := []byte("bwrap: execvp " + program + ": " + lack + "\n")
		said := blob.Of(text).Digest.Proto()
		if bytes.Equal(r.GetStderrRaw(), text) || r.GetStderrDigest().GetHash() == said.Hash && r.GetStderrDigest().GetSizeBytes() == said.SizeBytes {
			return fault.Environmentf("%w: execvp %s: %s", errNotStarted, program, lack)
		}
	}
	return nil
}

package reapi

import (
	"bytes"
	"errors"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"muster/regress/internal/exec/reapi/blob"
	"muster/regress/internal/fault"
)

// errNotStarted is the error of a command that an engine's sandbox could not start because the
// worker lacks something.
var errNotStarted = errors.New("the engine's sandbox did not start it")

// startsMax bounds the attempts to start a command. They bypass the engine's cache, which may
// have kept the failure.
const startsMax = 2

// lacks are the shortages of a worker. A missing or unexecutable program is not among them,
// because that is the tool's fault.
func lacks() []string {
	return []string{
		"Input/output error", "No space left on device", "Cannot allocate memory", "Resource temporarily unavailable",
		"Too many open files", "Too many open files in system", "Stale file handle",
	}
}

// checkStarted returns an error if the result has a sandbox's words instead of the command's.
// Bubblewrap, which buildbox uses, reports its own failures as the command's. The words are
// recognised by their digest, so nothing is downloaded.
func checkStarted(program string, r *repb.ActionResult) error {
	if r.GetExitCode() != 1 || len(r.GetStdoutRaw()) > 0 || r.GetStdoutDigest().GetSizeBytes() > 0 {
		return nil
	}
	for _, lack := range lacks() {
		text := []byte("bwrap: execvp " + program + ": " + lack + "\n")
		digest := blob.Of(text).Digest.Proto()
		if bytes.Equal(r.GetStderrRaw(), text) || r.GetStderrDigest().GetHash() == digest.Hash && r.GetStderrDigest().GetSizeBytes() == digest.SizeBytes {
			return fault.Environmentf("%w: execvp %s: %s", errNotStarted, program, lack)
		}
	}
	return nil
}

package crew

import (
	"syscall"

	"muster/internal/readable"
	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
)

// openFilesRun is the number of files that a run has open beside those of its lanes: corpus,
// goldens with journal and lock, reports, and what the start of a helper takes. The least
// with which a check passes is 20.
const openFilesRun = 27

// checkOpenFiles refuses more lanes than the limit on open files allows, before any case
// meets the limit. 0 lanes count as one. The Go runtime has already raised the limit as
// far as it may.
func checkOpenFiles(lanes int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // a limit that cannot be read shows later
	}
	need := uint64(openFilesRun + local.FilesPerLane*max(1, lanes))
	if limit.Cur >= need {
		return nil
	}
	if lanes == 0 {
		return fault.Environmentf("only %s files may be open at once, and muster needs %s: raise the limit (ulimit -n)", readable.Number(int64(limit.Cur)), readable.Number(int64(need)))
	}
	return fault.Environmentf("%s at once take up to %s, and %s are allowed: raise the limit (ulimit -n), or use fewer --jobs",
		readable.Cases(lanes), readable.Count(int64(need), "open file"), readable.Number(int64(limit.Cur)))
}

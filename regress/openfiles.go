package regress

import (
	"syscall"

	"muster/regress/internal/fault"
)

// Files that are open at once: those of a run (corpus, goldens with journal and
// lock, reports), and those of each lane. Measured by the least limit under which
// a check passes: 20 and 3.
const (
	openFilesRun  = 28
	openFilesLane = 3
)

// enoughFiles refuses more lanes than the limit on open files allows, before
// any case meets it.
func enoughFiles(lanes int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // what cannot be asked is found out later
	}
	if need := uint64(openFilesRun + openFilesLane*lanes); limit.Cur < need {
		return fault.Environmentf("%d cases at once take up to %d open files, and %d are allowed: raise the limit (ulimit -n), or use fewer --jobs", lanes, need, limit.Cur)
	}
	return nil
}

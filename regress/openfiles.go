package regress

import (
	"syscall"

	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
)

// openFilesRun is how many files a run has open beside those of its lanes: corpus,
// goldens with journal and lock, reports, and what a helper's start takes. The least
// with which a check passes is 20.
const openFilesRun = 27

// OpenFilesMin is how many files must be allowed to be open for a run: with one lane.
const OpenFilesMin = openFilesRun + local.FilesPerLane

// enoughFiles refuses more lanes than the limit on open files allows, before
// any case meets it.
func enoughFiles(lanes int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // what cannot be asked is found out later
	}
	if need := uint64(openFilesRun + local.FilesPerLane*lanes); limit.Cur < need {
		return fault.Environmentf("%d cases at once take up to %d open files, and %d are allowed: raise the limit (ulimit -n), or use fewer --jobs", lanes, need, limit.Cur)
	}
	return nil
}

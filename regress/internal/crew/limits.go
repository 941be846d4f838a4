package crew

import (
	"muster/regress/internal/exec/local"
	"muster/regress/internal/fault"
)

// CheckLimits refuses more lanes than the limits of this process allow, before a case meets
// them. With 0 lanes it checks what a process without a run needs. Its error is of class
// Environment.
func CheckLimits(lanes int) error {
	if err := checkOpenFiles(lanes); err != nil {
		return err
	}
	return local.CheckLimits(lanes)
}

// CheckJobs refuses a number of cases at once for which this machine has no lanes.
func CheckJobs(n int) error {
	if n > local.LanesMax {
		return fault.Inputf("--jobs %d: at most %d are possible", n, local.LanesMax)
	}
	return nil
}

package crew

import "muster/regress/internal/exec/local"

// CheckLimits refuses more lanes than the limits of this process allow, before a case meets
// them. With 0 lanes it checks what a process without a run needs. Its error is of class
// Environment.
func CheckLimits(lanes int) error {
	if err := checkOpenFiles(lanes); err != nil {
		return err
	}
	return local.CheckLimits(lanes)
}

//go:build !linux

package filestamp

import (
	"syscall"
	"time"
)

// ChangeTime is when anything of the file changed, its times included: nobody
// can set it.
func ChangeTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }

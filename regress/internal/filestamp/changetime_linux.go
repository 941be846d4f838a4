package filestamp

import (
	"syscall"
	"time"
)

// ChangeTime returns the time of the last change of the inode. No program can set it.
func ChangeTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }

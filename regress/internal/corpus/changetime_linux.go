package corpus

import (
	"syscall"
	"time"
)

// changeTime is when anything of the file changed, its times included: nobody
// can set it.
func changeTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }

package local

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// helperKey is the variable in a helper's environment that names the folder of its lanes.
const helperKey = "MUSTER_LANES="

// endStrays kills the processes that the cases of a lane, or of all lanes below dir, left
// running. It is for lanes without a PID namespace whose helper was killed: there nobody else
// does that. It recognises cases by the HOME or TMPDIR that only they were given. A case that
// starts daemons in another environment keeps them.
//
// It continues the helpers of lanes below dir. A case may have stopped such a helper again
// after its parent ended. A helper that continues ends by itself.
func endStrays(dir string) {
	const patience = 5 * time.Second
	deadline := time.Now().Add(patience)
	for found := true; found && time.Now().Before(deadline); {
		found = false
		processes, _ := filepath.Glob("/proc/[0-9]*")
		for _, proc := range processes {
			pid, err := strconv.Atoi(filepath.Base(proc))
			if err == nil && endStray(pid, proc, dir) {
				found = true
			}
		}
	}
}

// endStray kills a process of a case and continues a helper. It reports whether the process
// was either.
func endStray(pid int, proc, dir string) bool {
	fd, err := unix.PidfdOpen(pid, 0) // so that the signal cannot reach a later process
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	env, err := os.ReadFile(proc + "/environ")
	if err != nil {
		return false
	}
	for key, sig := range map[string]unix.Signal{"HOME=": unix.SIGKILL, "TMPDIR=": unix.SIGKILL, helperKey: unix.SIGCONT} {
		if bytes.HasPrefix(env, []byte(key+dir+"/")) || bytes.Contains(env, []byte("\x00"+key+dir+"/")) {
			return unix.PidfdSendSignal(fd, sig, nil, 0) == nil
		}
	}
	return false
}

package timing

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPUOf returns the CPU time of a running process and of its children that have ended. It returns 0
// if it cannot be read.
func CPUOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return cpuIn(text)
}

// tick is the unit of Linux for all CPU times of other processes.
const tick = time.Second / 100

// cpuIn reads fields 14 to 17 of a line of the kernel. The second field is the name of the process.
// It may have anything in it, but ends with the last bracket.
func cpuIn(stat []byte) (sum time.Duration) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	for _, f := range fields[11:15] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0
		}
		sum += time.Duration(n) * tick
	}
	return sum
}

// WatchPeak watches the peak of a process' resident memory, in bytes, until the function that it
// returns is called. The kernel's figure for a child that has ended begins with its parent's peak.
func WatchPeak(pid int) (peak func() int64) {
	stop, most := make(chan struct{}), make(chan int64)
	go func() {
		var found int64
		for {
			found = max(found, peakOf(pid))
			select {
			case <-stop:
				most <- found
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-most
	}
}

func peakOf(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
	for line := range strings.Lines(string(text)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kib), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}

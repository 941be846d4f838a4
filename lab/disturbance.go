package lab

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A reading is the processors' state at one moment. The difference of two readings shows what
// other programs did between them.
type reading struct {
	at    time.Time
	cpus  int           // processors that this process may use
	idle  time.Duration // of those processors together, since the start of the machine
	own   time.Duration // processor time of this process and of its children that have ended
	stall time.Duration // time during which some thread of the machine waited for a processor
	psi   bool          // whether the kernel reports stall
}

// tick is the unit of /proc/stat on every Linux system.
const tick = 10 * time.Millisecond

// readProcessors takes a reading. It has no processors on systems other than Linux.
func readProcessors(proc string) (r reading) {
	r.at = time.Now()
	stat, _ := os.ReadFile(proc + "/stat")
	status, _ := os.ReadFile(proc + "/self/status")
	pressure, _ := os.ReadFile(proc + "/pressure/cpu")
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) != nil {
			return reading{}
		}
		r.own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	r.cpus, r.idle = idleTime(string(stat), allowedCPUs(string(status)))
	r.stall, r.psi = stallTime(string(pressure))
	return r
}

// allowedCPUs returns a function that reports whether this process may use a processor, from
// a list such as "0-3,8" in /proc/self/status.
func allowedCPUs(status string) func(cpu int) bool {
	_, after, found := strings.Cut(status, "Cpus_allowed_list:")
	list, _, _ := strings.Cut(after, "\n")
	return func(cpu int) bool {
		for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
			first, last, several := strings.Cut(part, "-")
			if !several {
				last = first
			}
			from, _ := strconv.Atoi(first)
			to, _ := strconv.Atoi(last)
			if from <= cpu && cpu <= to {
				return true
			}
		}
		return !found
	}
}

// idleTime returns the number and the idle time of the allowed processors in /proc/stat.
func idleTime(stat string, allowed func(cpu int) bool) (cpus int, idle time.Duration) {
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line) // cpuN user nice system idle iowait …
		if len(fields) < 6 {
			continue
		}
		number, isCPU := strings.CutPrefix(fields[0], "cpu")
		cpu, err := strconv.Atoi(number)
		if !isCPU || err != nil || !allowed(cpu) {
			continue
		}
		cpus++
		for _, text := range fields[4:6] {
			ticks, _ := strconv.ParseInt(text, 10, 64)
			idle += time.Duration(ticks) * tick
		}
	}
	return cpus, idle
}

// stallTime returns the total in the first line of /proc/pressure/cpu.
func stallTime(pressure string) (time.Duration, bool) {
	_, after, _ := strings.Cut(pressure, "total=")
	total, _, _ := strings.Cut(after, "\n")
	µs, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
	return time.Duration(µs) * time.Microsecond, err == nil
}

// disturbance returns the share of the processors' time that other programs took since an
// earlier reading, but at most the share of the time during which threads waited for a processor.
// Neither suffices alone: other programs may use processors that a trial leaves idle, and the
// threads of a trial may wait for one another's processors. It returns false after less than two
// ticks, which give no share.
func (r reading) disturbance(before reading) (share float64, ok bool) {
	if r.cpus == 0 || before.cpus == 0 || r.at.Sub(before.at) < 2*tick {
		return 0, false
	}
	elapsed := r.at.Sub(before.at).Seconds()
	all := elapsed * float64(r.cpus)
	others := all - (r.idle - before.idle).Seconds() - (r.own - before.own).Seconds()
	share = others / all
	if r.psi && before.psi {
		share = min(share, (r.stall-before.stall).Seconds()/elapsed)
	}
	return share, true
}

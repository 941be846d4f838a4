package local

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
)

// processesMax is how many processes and threads one case may have at a time:
// 2,048, what containers usually get, or half of what the machine grants all
// of us, so that one case cannot keep muster and the other lanes from starting
// theirs. It is no fewer than a compiler's driver needs.
func processesMax() int64 {
	const (
		usual = 2048
		least = 64
	)
	return max(least, min(usual, userProcesses()/2, cgroup.ProcessesLeft("/proc")/2))
}

// userProcesses is how many processes and threads the user's cases may have; root's are
// not bound.
func userProcesses() int64 {
	var limit unix.Rlimit
	if os.Geteuid() == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil {
		return cgroup.Unlimited
	}
	return int64(min(limit.Cur, cgroup.Unlimited))
}

// limitUser bounds what the cases of a helper without a PID namespace can start, where
// nothing else would before the whole machine is full of it: an ordinary user's
// processes, ours and those of the other lanes among them. Root is not bound by
// this, only by the limit of a container.
func (w *worker) limitUser() {
	if !w.plain || os.Geteuid() == 0 {
		return
	}
	c := w.crew
	var limit unix.Rlimit
	pid, most := w.helper.Process.Pid, uint64(limitOfUser(c.usersThreads(), c.o.processes))
	if unix.Prlimit(pid, unix.RLIMIT_NPROC, nil, &limit) == nil && limit.Cur > most {
		limit.Cur = most
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &limit, nil) // if not, it is as it was
	}
}

// limitStep is how coarse the limit is that a case sees: what a case prints of it should
// not tell what else the user runs, today or when the golden was recorded.
const limitStep = 2048

// limitOfUser is the limit for a user who has so many threads already: the next step
// beyond them, a case's own and those of other lanes. With the usual 2,048 for a case
// it is 6,144 for all users who have fewer than 2,048. A wider step would stay the same for
// more of them, and leave a fork bomb more room.
func limitOfUser(threads, processes int64) int64 {
	return ((threads+2*processes)/limitStep + 1) * limitStep
}

// threadsOfOthers counts the threads of a user's other processes. It leaves out this process,
// which may start threads during the count.
func threadsOfOthers(uid int) (sum int64) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	own := strconv.Itoa(os.Getpid())
	for _, name := range names {
		var st syscall.Stat_t
		if name[0] <= '9' && name != own && syscall.Stat("/proc/"+name+"/task", &st) == nil && int(st.Uid) == uid {
			sum += threads(&st)
		}
	}
	return sum
}

// ownThreads counts those of this process.
func ownThreads() int64 {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) != nil {
		return 0
	}
	return threads(&st)
}

// threads is how many a process has whose folder of tasks this is: it holds a folder
// for each.
func threads(task *syscall.Stat_t) int64 { return max(1, int64(task.Nlink)-2) }

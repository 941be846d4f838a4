package local

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
)

// processesMax returns how many processes and threads one case may have at a time. It is
// 2,048, the usual limit of a container, or half of what the machine permits this user or
// container. So one case cannot keep muster and the other lanes from starting theirs. It is
// enough for a compiler's driver.
func processesMax() int64 {
	const (
		usual = 2048
		least = 64
	)
	return max(least, min(usual, userProcesses()/2, cgroup.ProcessesLeft("/proc")/2))
}

// userProcesses returns how many processes and threads the user may have; root's are not
// bound.
func userProcesses() int64 {
	var limit unix.Rlimit
	if os.Geteuid() == 0 || unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil {
		return cgroup.Unlimited
	}
	return int64(min(limit.Cur, cgroup.Unlimited))
}

// limitUserProcesses bounds the processes that the cases of a helper without a PID namespace
// can start. Otherwise only the size of the machine would bound them. The limit counts all
// processes of an ordinary user, so also those of muster and of other lanes. It does not bind
// root, who is bound only by the limit of a container.
func (w *worker) limitUserProcesses() {
	if !w.plain || os.Geteuid() == 0 {
		return
	}
	c := w.crew
	var limit unix.Rlimit
	pid, most := w.helper.Process.Pid, uint64(userLimit(c.countUserThreads(), c.o.processes))
	if unix.Prlimit(pid, unix.RLIMIT_NPROC, nil, &limit) == nil && limit.Cur > most {
		limit.Cur = most
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &limit, nil) // an error leaves the old limit
	}
}

// limitStep makes the limit coarse. A case may print the limit, and its output should not
// depend on what else the user runs, now or when the golden was recorded.
const limitStep = 2048

// userLimit returns the limit for a user who has that many threads: the next step beyond them,
// a case's own and those of other lanes. With the usual 2,048 for a case it is 6,144 for all
// users who have fewer than 2,048. A wider step would be the same for more users, and leave a
// fork bomb more room.
func userLimit(threads, processes int64) int64 {
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
			sum += threadCount(&st)
		}
	}
	return sum
}

// ownThreads counts the threads of this process.
func ownThreads() int64 {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/task", &st) != nil {
		return 0
	}
	return threadCount(&st)
}

// threadCount returns the number of a process's threads. Its task folder contains a folder for
// each.
func threadCount(task *syscall.Stat_t) int64 { return max(1, int64(task.Nlink)-2) }

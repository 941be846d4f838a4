package local

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
	"muster/regress/internal/fault"
)

// What a run takes of what the machine counts, as measured with `sort` over 300 cases,
// 1 to 8 lanes and 1 to 32 processors.
const (
	// threadsRun is how many threads this process has beside one for each processor.
	// It was 5; 1 more for what it starts.
	threadsRun = 6

	// threadsPerLane is a helper's 4 or 5, and its command. What a command starts
	// itself comes on top: how many that are nobody knows.
	threadsPerLane = 6

	// addressSpaceMin is in bytes. Up to 1.8 GiB were reserved, most of it never
	// touched: 1.2 by the Go runtime, the rest for threads' stacks and heaps of C. At
	// 1,800,000 KiB a run crashed now and then, at 1,900,000 none did.
	addressSpaceMin = 2 << 30
)

// CheckLimits refuses, before any of it is there, so many lanes as the limits on processes
// and memory do not allow; with 0 lanes, a process that runs none. Where a thread is
// refused to it the Go runtime prints all its stacks and ends the program with status 2,
// which says that the user is at fault; so does that of a helper.
//
// That is not excluded by this: other processes of the user may take what was left when
// we looked, and with 4 threads, or less than about 1.2 GiB, the runtime ends before any
// code of ours runs.
func CheckLimits(lanes int) error {
	if err := enoughAddressSpace(); err != nil {
		return err
	}
	need := int64(threadsRun + runtime.GOMAXPROCS(0) + threadsPerLane*lanes)
	limit := boundTo()
	if limit < need { // without a look at what there is, which may take a thread
		return tooFewThreads(lanes, need, fmt.Sprintf("this user may have %d", limit), raiseUsers)
	}
	if limit != cgroup.Unlimited {
		if left := max(0, limit-threadsOfOthers(unix.Getuid())); left < need {
			return tooFewThreads(lanes, need, fmt.Sprintf("of %d that this user may have %d are left", limit, left), raiseUsers)
		}
	}
	left := cgroup.ProcessesLeft("/proc")
	own := ownThreads() // The group counts them, too. Counted before, they could be fewer.
	if left < need-own {
		return tooFewThreads(lanes, need, fmt.Sprintf("the control group (pids.max) leaves %d", left+own), "raise that")
	}
	return nil
}

const raiseUsers = "raise the limit (ulimit -u)"

func enoughAddressSpace() error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= addressSpaceMin {
		return nil
	}
	return fault.Environmentf("muster takes up to %d KiB of address space, and %d are allowed: raise the limit (ulimit -v)",
		addressSpaceMin>>10, limit.Cur>>10)
}

func tooFewThreads(lanes int, need int64, left, mend string) error {
	who := "muster takes"
	switch {
	case lanes == 1:
		who = "a run takes"
	case lanes > 1:
		who, mend = fmt.Sprintf("%d cases at once take", lanes), mend+", or use fewer --jobs"
	}
	return fault.Environmentf("%s up to %d processes and threads, and %s: %s", who, need, left, mend)
}

// boundTo is how many processes and threads the kernel lets this process have: those
// with one of two capabilities may have any number. Its cases may not (userProcesses):
// they have no capability that root does not give them.
func boundTo() int64 {
	var (
		header = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		sets   [2]unix.CapUserData
	)
	const exempt = 1<<unix.CAP_SYS_RESOURCE | 1<<unix.CAP_SYS_ADMIN
	if unix.Capget(&header, &sets[0]) == nil && sets[0].Effective&exempt != 0 {
		return cgroup.Unlimited
	}
	return userProcesses()
}

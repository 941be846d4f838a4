package local

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"muster/internal/cgroup"
	"muster/internal/readable"
	"muster/regress/internal/fault"
)

// These are the needs of a run, measured with `sort` over 300 cases, with 1 to 8 lanes and 1
// to 32 processors.
const (
	// threadsRun is the number of this process's threads beside one for each processor. 5
	// were measured; 1 more is for programs that it starts.
	threadsRun = 6

	// threadsPerLane counts a helper's 4 or 5 threads, and its command. A command may start
	// more, an unknown number.
	threadsPerLane = 6

	// addressSpaceMin is in bytes. Runs reserved up to 1.8 GiB and never touched most of it:
	// 1.2 GiB by the Go runtime, the rest for threads' stacks and heaps of C. With 1,800,000
	// KiB some runs crashed, with 1,900,000 KiB no run did.
	addressSpaceMin = 2 << 30
)

// CheckLimits returns an error if the limits on processes and memory do not allow this number
// of lanes; 0 = a process that runs no lane. It is called before any lane starts. Without a
// thread, the Go runtime prints all its stacks and ends the program with status 2, which means
// an error of the user. A helper's runtime does the same.
//
// CheckLimits cannot exclude that. Other processes of the user may take what was left at the
// check. With 4 threads, or less than about 1.2 GiB, the runtime ends before any code of
// muster runs.
func CheckLimits(lanes int) error {
	if err := checkAddressSpace(); err != nil {
		return err
	}
	need := int64(threadsRun + runtime.GOMAXPROCS(0) + threadsPerLane*lanes)
	limit := processLimit()
	if limit < need { // without counting threads, which may take a thread
		return tooFewThreads(lanes, need, fmt.Sprintf("this user may have %d", limit), raiseUserLimit)
	}
	if limit != cgroup.Unlimited {
		if left := max(0, limit-threadsOfOthers(unix.Getuid())); left < need {
			return tooFewThreads(lanes, need, fmt.Sprintf("of %d that this user may have %d are left", limit, left), raiseUserLimit)
		}
	}
	left := cgroup.ProcessesLeft("/proc")
	own := ownThreads() // The group counts them, too. Counted earlier, they could be fewer.
	if left < need-own {
		return tooFewThreads(lanes, need, fmt.Sprintf("the control group (pids.max) leaves %d", left+own), "raise that")
	}
	return nil
}

const raiseUserLimit = "raise the limit (ulimit -u)"

func checkAddressSpace() error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= addressSpaceMin {
		return nil
	}
	return fault.Environmentf("muster takes up to %s of address space, and %s are allowed: raise the limit (ulimit -v)",
		readable.BinarySize(addressSpaceMin), readable.BinarySize(int64(limit.Cur)))
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

// processLimit returns how many processes and threads the kernel lets this process have. With
// one of two capabilities it may have any number. Its cases may not (userProcesses): they have
// no capability that root does not give them.
func processLimit() int64 {
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

package local

import (
	"muster/regress"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestThreadRefusedToHelper: what ends a helper to which a thread is refused is told in
// one line, with what helps, as the runtime puts it with cgo and without.
func TestThreadRefusedToHelper(t *testing.T) {
	for _, said := range []string{
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort\nPC=0x7f",
		"runtime: failed to create new OS thread (have 3 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc",
	} {
		o := options(usual(t))
		o.Helper = []string{"/bin/sh", "-c", `echo "$0" >&2; exit 2`, said}
		crew, err := Start(t.Context(), o)
		if err == nil {
			must(t, crew.Close())
			t.Fatal("a crew of such helpers started")
		}
		first, _, _ := strings.Cut(said, "\n")
		if text := err.Error(); !strings.HasSuffix(text, first+": "+processesMend) || strings.Contains(text, "\n") || regress.ClassOf(err) != regress.Environment {
			t.Errorf("it is told as %q", text)
		}
	}
}

// TestCheckLimitsOfThisMachine: what the limits of where the tests run leave is enough.
func TestCheckLimitsOfThisMachine(t *testing.T) {
	for _, lanes := range []int{0, 1, 4} {
		must(t, CheckLimits(lanes))
	}
}

// TestLimitOfUser: the limit that a case without namespaces sees does not tell what else
// the user runs.
func TestLimitOfUser(t *testing.T) {
	if os.Geteuid() == 0 {
		if !again(t, asOrdinaryUser(t)) {
			return
		}
	}
	seen := func() uint64 {
		t.Helper()
		r := newRig(t, usual(t), plainly)
		var limit unix.Rlimit
		must(t, unix.Prlimit(r.crew.lanes[0].helper.Process.Pid, unix.RLIMIT_NPROC, nil, &limit))
		return limit.Cur
	}
	before := seen()
	var own unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NPROC, &own))
	if before == own.Cur {
		needed(t, "the user's own limit is no higher than what cases get")
	}
	for range 3 { // of the user's
		cmd := exec.CommandContext(t.Context(), "/bin/sleep", "60")
		must(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	}
	if after := seen(); after != before {
		t.Errorf("the limit was %d, and is %d beside three more processes", before, after)
	}
}

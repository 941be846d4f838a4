package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusals are the system calls that some container or old kernel refuses.
var refusals = map[string]uint32{
	"namespaces":  unix.SYS_CLONE, // only with the flags for new ones
	"mount":       unix.SYS_MOUNT,
	"inotify":     unix.SYS_INOTIFY_INIT1,
	"close_range": unix.SYS_CLOSE_RANGE,
	"kill":        unix.SYS_KILL,

	"pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL,
}

// refusingTool starts a command for which the kernel refuses some system calls:
// with an error, a list of names, then the command.
func refusingTool(args []string) error {
	code, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	var filter []unix.SockFilter
	for what := range strings.SplitSeq(args[1], ",") {
		filter = append(filter, load(0), // the number
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: refusals[what], Jf: 3},
			load(16), // the first argument: flags, or any
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: 0, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(code)})
		if what == "namespaces" {
			const newAny = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUSER
			filter[len(filter)-2] = unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: newAny, Jf: 1}
		}
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return err
	}
	return syscall.Exec(args[2], args[2:], os.Environ())
}

// refused runs the calling test, a subtest, where the kernel refuses that.
func refused(t *testing.T, code syscall.Errno, what string) bool {
	t.Helper()
	return again(t, func(cmd *osexec.Cmd) {
		cmd.Args = append([]string{cmd.Path, "tool", "refusing", fmt.Sprint(int(code)), what, cmd.Path}, cmd.Args[1:]...)
	})
}

// TestRefusedBySeccomp: as in containers that allow neither namespaces nor
// mounts. Lanes work without, the user hears of it once, cases are who they
// were, and see what they see elsewhere.
func TestRefusedBySeccomp(t *testing.T) {
	for what, code := range map[string]syscall.Errno{
		"namespaces": unix.EPERM, "mount": unix.EPERM, "namespaces,mount,inotify,close_range": unix.ENOSYS,
	} {
		t.Run(what, func(t *testing.T) {
			if !refused(t, code, what) {
				return
			}
			c := usual(t)
			r := &rig{T: t, corpus: c, notes: &notes{}}
			o := options(c)
			o.Lanes, o.Note, o.Warn = 3, r.notes.add, r.notes.warn
			var err error
			r.crew, err = Start(context.Background(), o)
			must(t, err)
			told := 0
			for _, said := range r.notes.said {
				if strings.HasPrefix(said, "warning: lanes without namespaces") {
					told++
				}
			}
			blind := strings.Contains(what, "inotify")
			if r.crew.mode.isolates() || told != 1 || len(r.notes.said) != 1+map[bool]int{true: 1}[blind] {
				t.Errorf("lanes are apart: %v, and was told %q", r.crew.mode.isolates(), r.notes.said)
			}
			if r.crew.lanes[0].noInotify != blind {
				t.Errorf("blind: %v", r.crew.lanes[0].noInotify)
			}
			r.want(r.run("one.c", "pwd; echo $HOME; id -u"), "exit 0",
				fmt.Sprintf(`stdout "/tmp/muster/canonical/lane/work\n/tmp/muster/canonical/lane/home\n%d\n"`, os.Geteuid()))
			r.want(r.run("one.c", "ls /proc/self/fd"), "exit 0", `stdout "0\n1\n2\n3\n"`) // ls has opened the fourth
			for _, d := range folders()[:12] {
				r.sub(d.name, d.check)
			}
			must(t, r.crew.Close())
		})
	}
}

// TestInterruptedWhereRefused: an interrupted start is no refusal, even where the
// kernel refuses the first mode.
func TestInterruptedWhereRefused(t *testing.T) {
	if !refused(t, unix.EPERM, "namespaces") {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Start(ctx, options(usual(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

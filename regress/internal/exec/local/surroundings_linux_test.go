package local

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"muster/regress"
	"muster/regress/internal/exec"
)

// TestInheritance: what a case inherits does not depend on who started muster.
func TestInheritance(t *testing.T) {
	if !again(t, withNothing) {
		return
	}
	// With a file and a umask of a shell's.
	f, err := os.Create(filepath.Join(t.TempDir(), "left open"))
	must(t, err)
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFD, 0) // not closed on exec
	must(t, err)
	syscall.Umask(0o077)
	must(t, syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}))
	inBothModes(t, usual, func(r *rig) {
		r.want(r.run("one.c", "ulimit -Sn; ulimit -Hn; ulimit -s; ulimit -Hs; ulimit -p; ulimit -Hp; ulimit -l"), "exit 0", `stdout "1024\n4096\n8192\nunlimited\n6144\n6144\n64\n"`)
		r.want(r.run("one.c", "umask; ulimit -c; ls /proc/self/fd"), "exit 0", `stdout "0022\n0\n0\n1\n2\n3\n"`) // 3 is ls's own
		r.want(r.run("one.c", "readlink /proc/self/fd/0; echo x > n; stat -c %a n"), "exit 0", `stdout "/dev/null\n644\n"`, `n "x\n"`)
		r.wantClean("next.c")
	})
}

// deafly starts a process with every signal ignored and blocked.
func deafly(cmd *osexec.Cmd) {
	cmd.Args = append([]string{cmd.Path, "tool", "deaf", cmd.Path}, cmd.Args[1:]...)
}

// TestSignalsAsNew: a case finds every signal with its default effect and none
// blocked, whatever muster was started with and does itself. Else a tool would
// write an error where it should be ended by a closed pipe.
func TestSignalsAsNew(t *testing.T) {
	if !again(t, deafly) {
		return
	}
	for sig := syscall.Signal(1); sig <= 64; sig++ {
		if sig != syscall.SIGCHLD && sig != syscall.SIGURG { // the runtime's own
			signal.Ignore(sig)
		}
	}
	status, err := os.ReadFile("/proc/thread-self/status")
	must(t, err)
	for _, none := range []string{"SigBlk:\t0000000000000000", "SigIgn:\t0000000000000000"} {
		if strings.Contains(string(status), none) {
			t.Fatalf("the test shows nothing:\n%s", status)
		}
	}
	inBothModes(t, usual, func(r *rig) {
		r.want(r.run("one.c", "{ yes; echo $? > status; } | head -n 1"), "exit 0", `stdout "y\n"`, `status "141\n"`)
		r.want(r.run("one.c", "grep -E 'Sig(Blk|Ign)|SigPnd|ShdPnd' /proc/self/status"), "exit 0",
			`stdout "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"`)
		r.want(r.run("one.c", "kill -PIPE $$"), "signal 13 (SIGPIPE)")
		r.want(r.run("one.c", "kill -HUP $$"), "signal 1 (SIGHUP)")
		r.wantClean("next.c")
	})
}

// TestNoTerminal: a case has no controlling terminal, even if muster has.
func TestNoTerminal(t *testing.T) {
	if !again(t, func(cmd *osexec.Cmd) {
		cmd.ExtraFiles = []*os.File{terminal(t)}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	}) {
		return
	}
	if f, err := os.Open("/dev/tty"); err != nil {
		t.Fatalf("the test has no terminal itself: %v", err)
	} else {
		f.Close()
	}
	inBothModes(t, usual, func(r *rig) {
		r.want(r.run("one.c", "(: < /dev/tty) 2> /dev/null && echo open; exit 0"), "exit 0")
	})
}

// terminal opens a new pseudo terminal.
func terminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		needed(t, err.Error())
	}
	t.Cleanup(func() { master.Close() })
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	must(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { slave.Close() })
	return slave
}

// TestStdin is /dev/null, or the source, which cannot be written that way.
func TestStdin(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		for _, c := range []struct {
			stdin bool
			text  string
			want  []string
		}{
			{false, "cat", []string{"exit 0"}},
			{true, "cat", []string{"exit 0", `stdout "source two\n"`}},
			{true, "head -c 3 > n; cat", []string{"exit 0", `stdout "rce two\n"`, `n "sou"`}},
			{true, "(echo x >&0) 2> /dev/null || exit 4", []string{"exit 4"}},
			{true, "rm sub/two.c; cat", []string{"exit 0", `stdout "source two\n"`, "sub/two.c gone"}},
		} {
			command, err := exec.Resolve([]string{"/bin/sh", "-c", c.text}, false, c.stdin)
			must(r, err)
			result, err := exec.Run(context.Background(), r.crew, exec.Job{Source: r.entry("sub/two.c"), Command: command, Avoid: exec.NoLane})
			must(r, err)
			r.want(r.tell(result), c.want...)
			result.Release()
		}
		r.wantClean("next.c")
	})
}

// TestRights: of an ordinary user's case, which runs in a user namespace.
func TestRights(t *testing.T) {
	if os.Geteuid() == 0 {
		if !again(t, asOrdinaryUser(t)) {
			return
		}
	}
	inBothModes(t, usual, func(r *rig) {
		const none = "0000000000000000"
		r.want(r.run("one.c", "id -u; id -g; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status"), "exit 0",
			fmt.Sprintf(`stdout "%d\n%d\nCapInh:\t%s\nCapPrm:\t%[3]s\nCapEff:\t%[3]s\nCapAmb:\t%[3]s\n"`, os.Getuid(), os.Getgid(), none))
		r.want(r.run("one.c", "mount -t tmpfs none . 2> /dev/null || echo refused"), "exit 0", `stdout "refused\n"`)
		if apart := r.crew.mode.isolates(); apart == r.crew.o.plain {
			r.Errorf("apart: %v", apart)
		}
	})
}

// inUserNamespace starts a process in a user namespace, as its root, where it
// may set limits for what is below it.
func inUserNamespace(cmd *osexec.Cmd) {
	asRootOfItsOwn(cmd)
	a := cmd.SysProcAttr
	a.Cloneflags |= syscall.CLONE_NEWUSER
	if a.UidMappings == nil {
		a.UidMappings = []syscall.SysProcIDMap{{Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{Size: 1}}
	}
}

// TestNoNetworkRefused: lanes never have a network where none was wanted.
func TestNoNetworkRefused(t *testing.T) {
	o := options(usual(t))
	o.NoNetwork, o.plain = true, true
	if _, err := Start(t.Context(), o); regress.ClassOf(err) != regress.Environment || !strings.Contains(err.Error(), "--no-network: ") {
		t.Errorf("%v", err)
	}
}

package local

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStreamsAsNew: what a case does to the descriptions of its streams, and to the
// files behind them, is not there for the next one; nor does a lease stop its lane.
func TestStreamsAsNew(t *testing.T) {
	inBothModes(t, usual, func(r *rig) {
		for range 3 {
			r.want(r.run("one.c", "sleep 0.03; exec "+self("streams", "alter")), "exit 0")
			r.want(r.run("next.c", "exec "+self("streams", "look")), "exit 0")
			r.want(r.run("one.c", "echo out; echo err >&2; exec "+self("streams", "alter")), "exit 0", `stdout "out\n"`, `stderr "err\n"`)
			r.want(r.run("next.c", "exec "+self("streams", "look")), "exit 0")
		}
	})
}

// streamsTool alters its three descriptors in every way that leaves their content,
// or finds fault with what is not as new.
func streamsTool(args []string) error {
	for fd := range 3 {
		if args[0] == "alter" {
			alterStream(fd)
			continue
		}
		if err := lookAtStream(fd); err != nil {
			return fmt.Errorf("descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// alterStream does what it can: not all of it is possible for every descriptor.
func alterStream(fd int) {
	_ = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETOWN, unix.Getpid())
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETSIG, int(unix.SIGUSR2))
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_NONBLOCK)
	if fd > 0 {
		_ = unix.Fsetxattr(fd, "user.muster", []byte("x"), 0)
		_ = unix.Fchmod(fd, 0o644)
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
	}
}

func lookAtStream(fd int) error {
	for what, get := range map[string]int{"owner": unix.F_GETOWN, "signal": unix.F_GETSIG} {
		if n, err := unix.FcntlInt(uintptr(fd), get, 0); n != 0 || err != nil {
			return fmt.Errorf("its %s is %d, %v", what, n, err)
		}
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); flags&unix.O_NONBLOCK != 0 || err != nil {
		return fmt.Errorf("its flags are %#x, %v", flags, err)
	}
	if n, err := unix.Flistxattr(fd, nil); n > 0 && fd > 0 {
		return fmt.Errorf("it has %d bytes of attributes, %v", n, err)
	}
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(again)
	if err := unix.Flock(again, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("its lock: %w", err)
	}
	return nil
}

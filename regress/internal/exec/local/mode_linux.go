package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"muster/regress/internal/fault"
)

// mode is a way to set a lane apart. Which of them work depends on the user,
// the kernel's settings and the container around muster.
type mode struct {
	name  string
	flags uintptr
	user  bool // a user namespace of its own, in which the lane may mount
}

// modes lists the ways from best to last resort.
func modes(plain bool) []mode {
	const apart = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	last := mode{name: "plain"}
	switch {
	case plain:
		return []mode{last}
	case os.Geteuid() == 0:
		return []mode{{"namespaces", apart, false}, {"user namespace", apart | syscall.CLONE_NEWUSER, true}, last}
	}
	return []mode{{"user namespace", apart | syscall.CLONE_NEWUSER, true}, last}
}

func (m *mode) apart() bool { return m.flags != 0 }

// capSysAdmin is the capability to mount.
const capSysAdmin = 21

func (m *mode) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: m.flags}
	if !m.user {
		return a
	}
	// To its own numbers: mapped to 0 a compiler believes that it is root.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{capSysAdmin}
	return a
}

// firstLane starts lane 0 in the best mode that works, and settles on it.
func (c *Crew) firstLane(ctx context.Context) (*worker, error) {
	point := mountPoint()
	var why error
	for _, m := range modes(c.o.plain) {
		if m.apart() && point != nil {
			why = point
			continue
		}
		w, err := c.startWorker(ctx, 0, &m)
		if err == nil {
			c.mode = &m
			if !m.apart() {
				c.o.Note(fmt.Sprintf("lanes without namespaces (%v): their folders' paths are rewritten to %s in what cases leave", reasonFor(why), Canonical))
			}
			return w, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		why = err
	}
	return nil, fault.Environmentf("no lane can be started: %w", why)
}

func reasonFor(err error) error {
	if err == nil {
		return errors.New("not asked for")
	}
	return err
}

// mountPoint makes the folder that lanes mount theirs over. It stays: it is
// empty, and another run may be using it.
func mountPoint() error {
	if err := os.MkdirAll(Canonical, 0o755); err != nil {
		return err
	}
	info, err := os.Lstat(Canonical)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", Canonical)
	}
	return err
}

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"muster/regress"
	"muster/regress/internal/fault"
)

// mode is a way to isolate a lane. Which modes work depends on the user, the kernel's settings
// and the container around muster.
type mode struct {
	name  string
	flags uintptr
	user  bool // with a user namespace of its own, in which the lane may mount
}

// modes lists the modes, the best first.
func modes(plain, noNetwork bool) []mode {
	var apart uintptr = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
	if noNetwork {
		apart |= syscall.CLONE_NEWNET
	}
	last := mode{name: "plain"}
	switch {
	case plain:
		return []mode{last}
	case os.Geteuid() == 0:
		return []mode{{"namespaces", apart, false}, {"user namespace", apart | syscall.CLONE_NEWUSER, true}, last}
	}
	return []mode{{"user namespace", apart | syscall.CLONE_NEWUSER, true}, last}
}

func (m *mode) isolates() bool { return m.flags != 0 }

// These are the capabilities to mount, to enable a loopback, and to drop capabilities of
// cases.
const (
	capSysAdmin = 21
	capNetAdmin = 12
	capSetPcap  = 8
)

func (m *mode) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: m.flags}
	if !m.user {
		return a
	}
	// The user keeps its number: mapped to 0, a compiler would believe that it is root.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{capSysAdmin, capNetAdmin, capSetPcap}
	return a
}

// startFirst starts lane 0 in the best mode that works. The other lanes use the same mode.
func (c *Crew) startFirst(ctx context.Context) error {
	point := mountPoint()
	why := errors.New("not asked for")
	for _, m := range modes(c.o.plain, c.o.NoNetwork) {
		if m.isolates() && point != nil {
			why = point
			continue
		}
		if c.o.NoNetwork && !m.isolates() {
			return fault.Environmentf("--no-network: this machine does not let lanes have a network of their own (%w): leave it out, or run where user namespaces are allowed", why)
		}
		err := c.lanes[0].start(ctx, &m)
		if err == nil {
			c.mode = &m
			if !m.isolates() {
				c.o.Warn(fmt.Sprintf("lanes without namespaces (%v): their folders' paths are rewritten to %s in what cases leave", why, Canonical))
			}
			return nil
		}
		var full *errFull // another mode needs as much room
		if ctx.Err() != nil || regress.ClassOf(err) == regress.Input || errors.As(err, &full) {
			return err
		}
		why = err
	}
	return fault.Environmentf("no lane can be started: %w", why)
}

// mountPoint makes the folder over which lanes mount theirs. It stays: it is empty, and
// another run may be using it.
func mountPoint() error {
	if err := makeForAll(Canonical); err != nil {
		return err
	}
	// Cases would print a path with a link resolved.
	real, err := filepath.EvalSymlinks(Canonical)
	if err == nil && real != Canonical {
		err = fmt.Errorf("%s leads to %s", Canonical, real)
	}
	now := time.Now()
	_ = os.Chtimes(Canonical, now, now) // so that nothing removes it as old; it may be another user's
	return err
}

// makeForAll makes a folder that every user may enter, whatever this process's umask, and the
// missing ones above it.
func makeForAll(dir string) error {
	if isFolder(dir) {
		return nil
	}
	if err := makeForAll(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) && isFolder(dir) {
			return nil // another run made it meanwhile
		}
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is not a folder: move it away", dir)
		}
		return err
	}
	return os.Chmod(dir, 0o755)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

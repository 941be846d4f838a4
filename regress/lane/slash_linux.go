package lane

import (
	"errors"
	"strconv"
	"syscall"
	"unsafe"
)

// slashTmp is the /tmp of a lane with a mount namespace: a folder of the lane, mounted over the machine's
// /tmp. It contains the path at which cases see the lane, so no other user can exchange a folder of that
// path. What the tool needs of the machine's /tmp is mounted in it, read-only.
type slashTmp struct {
	dir   string // path of the folder that shows no mounts in it; "" = cases have the machine's /tmp
	keep  []string
	links []link   // of the machine's /tmp
	shown []string // paths of the machine's /tmp that cases see
}

type link struct{ name, target string }

// holder returns the folder in /tmp that holds the lane's folder, and nothing that a case may change.
func (s *Setup) holder() string { return folderOf(folderOf(s.Canonical)) }

// covered returns /tmp, or "" if cases have the machine's.
func (s *Setup) covered() string { return folderOf(s.holder()) }

const openPlace = 0x200000 | syscall.O_CLOEXEC // O_PATH

// cover mounts the lane's own /tmp, with its folder in it. Paths below the machine's /tmp are invalid
// afterwards, except those relative to a folder that was entered before.
func (t *slashTmp) cover(s *Setup) error {
	if syscall.Getpid() != 1 {
		return errors.New("the lane has no namespaces")
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fail("make private", "/", err)
	}
	machine, err := syscall.Open(s.covered(), openPlace|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fail("cover", s.covered(), err)
	}
	defer syscall.Close(machine)
	root, err := syscall.Open(s.Root, openPlace|syscall.O_DIRECTORY, 0)
	if err != nil {
		return fail("open", s.Root, err)
	}
	defer syscall.Close(root)
	if err := errors.Join(syscall.Mkdir(t.dir, 0o700), t.reset()); err != nil {
		return fail("make", t.dir, err)
	}
	if err := syscall.Mount(t.dir, s.covered(), "", syscall.MS_BIND, ""); err != nil {
		return fail("mount", s.covered(), err)
	}
	return t.fill(s, root, machine)
}

// fill mounts the lane's folder, and what cases see of the machine's /tmp.
func (t *slashTmp) fill(s *Setup, root, machine int) error {
	const own = syscall.MS_NOSUID | syscall.MS_NODEV
	holder := s.holder()
	err := syscall.Mkdir(holder, 0o755)
	if err == nil {
		err = syscall.Mount("none", holder, "tmpfs", own, "mode=755")
	}
	if err == nil {
		err = errors.Join(syscall.Mkdir(folderOf(s.Canonical), 0o755), syscall.Mkdir(s.Canonical, 0o755), bind(root, s.Canonical))
	}
	if err != nil {
		return fail("mount", s.Canonical, err)
	}
	t.keep = append(t.keep, relativeTo(s.covered(), holder))
	for _, name := range s.Visible {
		if err := t.show(s.covered(), machine, name); err != nil {
			return fail("mount", s.covered()+"/"+name, err)
		}
	}
	// A case can move no folder that is a mount point, and change nothing in this one.
	return fail("protect", holder, syscall.Mount("none", holder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY|own, ""))
}

// show makes an entry of the machine's /tmp visible. It skips one that is gone, or that this user may not
// reach.
func (t *slashTmp) show(top string, machine int, name string) error {
	var from path
	from.set(descriptorPath(machine), "/", name)
	fd, err := from.open(openPlace|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	defer closeFD(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	at := top + "/" + name
	t.shown = append(t.shown, at)
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		target, err := from.readLink()
		if err != nil {
			return err
		}
		if folderOf(name) == "" {
			t.links = append(t.links, link{name, target})
		}
		return syscall.Symlink(target, at)
	case syscall.S_IFDIR:
		err = syscall.Mkdir(at, 0o700)
	default:
		err = syscall.Mknod(at, syscall.S_IFREG|0o600, 0)
	}
	if err != nil {
		return err
	}
	t.keep = append(t.keep, name)
	return errors.Join(bind(fd, at), makeReadOnly(at))
}

// bind mounts an open file or folder, with all that is mounted in it.
func bind(fd int, at string) error {
	return syscall.Mount(descriptorPath(fd), at, "", syscall.MS_BIND|syscall.MS_REC, "")
}

func descriptorPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// makeReadOnly makes a mount and those in it read-only, and keeps their other flags. A kernel before
// Linux 5.12 cannot do that, and leaves them as they are.
func makeReadOnly(at string) error {
	const (
		setAttributes = 442 // mount_setattr, its number on every architecture
		recursive     = 0x8000
	)
	name, err := syscall.BytePtrFromString(at)
	if err != nil {
		return err
	}
	attributes := struct{ set, clear, propagation, namespace uint64 }{set: 1} // MOUNT_ATTR_RDONLY
	_, _, e := syscall.Syscall6(setAttributes, cwd(), uintptr(unsafe.Pointer(name)), recursive,
		uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
	if e == syscall.ENOSYS {
		return nil
	}
	return asError(e)
}

// restore removes what a case left. t.dir shows no mount, so nothing that is mounted in it is reached.
func (t *slashTmp) restore() error {
	if err := empty(t.dir, t.keep...); err != nil {
		return err
	}
	for _, l := range t.links {
		if err := syscall.Symlink(l.target, t.dir+"/"+l.name); err != nil {
			return fail("link", l.name, err)
		}
	}
	return t.reset()
}

// reset restores the folder's rights.
func (t *slashTmp) reset() error { return resetFolder(t.dir, syscall.S_ISVTX|0o777) }

package lane

import (
	"errors"
	"syscall"
)

// mounts finds file systems that are mounted below the lane's folder. Removing files there by
// name would remove those of another folder, perhaps of another machine. No case may mount in
// a lane. But a set-user-ID program may do so for it (fusermount), and so may a person who
// inspects the lane.
type mounts struct {
	root, canonical string
	fd              int  // /proc/self/mountinfo, or -1
	tableChanged    bool // since the last unmountAll
}

const mountInfo = "/proc/self/mountinfo"

func (m *mounts) watch(root, canonical string) {
	m.root, m.canonical = root, canonical
	fd, err := syscall.Open(mountInfo, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	m.fd = fd
	m.changed() // the mounts so far belong there
	m.tableChanged = false
}

// changed reports whether anything was mounted or unmounted since the last unmountAll.
func (m *mounts) changed() bool {
	const urgent, failed = 2, 8 // POLLPRI, POLLERR: this one file reports a change by both, once
	fds := [1]pollFD{{fd: int32(m.fd), events: urgent}}
	if poll(fds[:], 0) != nil || fds[0].revents&(urgent|failed) != 0 {
		m.tableChanged = true
	}
	return m.tableChanged
}

// anyMounted reports whether something is mounted below the lane's folder, as far as cases see
// it.
func (m *mounts) anyMounted() bool {
	return m.changed() && (len(pointsBelow(m.root, 0)) > 0 || m.canonical != "" && len(pointsBelow(m.canonical, 1)) > 0)
}

// unmountAll detaches everything that is mounted below the lane's folder. If it fails, nothing
// there may be touched.
func (m *mounts) unmountAll() error {
	if !m.changed() {
		return nil
	}
	m.tableChanged = false
	err := Detach(m.root)
	if m.canonical != "" {
		err = errors.Join(err, detach(pointsBelow(m.canonical, 1))) // the first is the lane's own
	}
	return err
}

// Detach detaches everything that is mounted on a folder and below it, and touches none of its
// files. Without the permission, the error names the mount point.
func Detach(dir string) error { return detach(pointsBelow(dir, 0)) }

func detach(points []string) error {
	// Inner and upper ones come later in the table.
	for i := len(points) - 1; i >= 0; i-- {
		const lazy, noFollow = syscall.MNT_DETACH, 8 // UMOUNT_NOFOLLOW
		if err := syscall.Unmount(points[i], lazy|noFollow); err != nil {
			return fail("take away what is mounted at", points[i], err)
		}
	}
	return nil
}

// pointsBelow lists the mount points at a folder and below it. It skips the first own ones at
// the folder itself.
func pointsBelow(dir string, own int) (points []string) {
	var space []byte
	table, err := readWhole(mountInfo, &space)
	if err != nil {
		return nil // no /proc
	}
	for _, at := range mountPoints(table) {
		switch {
		case at == dir && own > 0:
			own--
		case at == dir, len(at) > len(dir) && at[:len(dir)] == dir && at[len(dir)] == '/':
			points = append(points, at)
		}
	}
	return points
}

// mountPoints returns the fifth field of each line, proc_pid_mountinfo(5): the mount points,
// in the order of mounting.
func mountPoints(table []byte) (points []string) {
	field, begin := 1, 0
	for i, c := range table {
		switch {
		case c == '\n':
			field, begin = 1, i+1
		case c == ' ':
			if field == 5 {
				points = append(points, unescape(table[begin:i]))
			}
			field, begin = field+1, i+1
		}
	}
	return points
}

// unescape decodes spaces, tabs, line feeds and backslashes, which the kernel writes as \ and
// three octal digits.
func unescape(field []byte) string {
	plain := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		c := field[i]
		if c == '\\' && i+3 < len(field) {
			c = (field[i+1]-'0')<<6 | (field[i+2]-'0')<<3 | (field[i+3] - '0')
			i += 3
		}
		plain = append(plain, c)
	}
	return string(plain)
}

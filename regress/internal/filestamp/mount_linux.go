package filestamp

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// At returns the stamp of the file to which a path leads, with its mount and the boot of this machine. It
// differs for a file in an image that was mounted again.
func At(path string, info fs.FileInfo) string {
	return Of(info) + mountOf(unix.AT_FDCWD, path, 0).String()
}

// OfFile is like At, for an open file.
func OfFile(f *os.File, info fs.FileInfo) string {
	return Of(info) + mountOf(int(f.Fd()), "", unix.AT_EMPTY_PATH).String()
}

// IsTrusted reports whether an open file has its present content whenever OfFile returns its present stamp.
// Ask before the content is read. The file must not have changed for the duration rest.
func IsTrusted(f *os.File, rest time.Duration) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && time.Since(info.ModTime()) > rest && time.Since(ChangeTime(st)) > rest &&
		mountOf(int(f.Fd()), "", unix.AT_EMPTY_PATH).isUnique && hasHonestTimes(f) && !mayHaveWriter(f, st)
}

// mount is a mount of a file system.
type mount struct {
	device, id uint64
	isUnique   bool // no other mount has had this id since the machine started
}

func (m mount) String() string {
	return fmt.Sprintf("%s%d, mount %d of boot %s", deviceField, m.device, m.id, boot())
}

// mountOf returns the mount of a file. It is not unique before Linux 6.8.
func mountOf(folder int, path string, flags int) mount {
	var st unix.Statx_t
	for unix.Statx(folder, path, flags, unix.STATX_MNT_ID_UNIQUE, &st) == unix.EINTR {
	}
	return mount{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Mnt_id, st.Mask&unix.STATX_MNT_ID_UNIQUE != 0 && boot() != ""}
}

// boot returns the identity of this start of the machine, "" if it is unknown.
var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // no error: then stamps are not trusted
	return strings.TrimSpace(string(id))
})

// hasHonestTimes reports whether a file is on a file system of this kernel that sets the time of the last
// change of an inode itself. README.md says why others are missing.
func hasHonestTimes(f *os.File) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &st) != nil {
		return false
	}
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC /* of ext2 and ext3 too */, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}

// mayHaveWriter reports whether a process may write to a file now: through a descriptor, or through a mapping,
// which leaves the times as they are. The kernel refuses a read lease on such a file. Only the owner may ask,
// and root. Files of root that nobody else may write to have no writer here.
func mayHaveWriter(f *os.File, st *syscall.Stat_t) bool {
	const groupOrOthers = 0o022
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	} else if err == unix.EACCES && st.Uid == 0 && st.Mode&groupOrOthers == 0 {
		return false
	}
	return err != nil
}

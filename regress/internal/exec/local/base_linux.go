package local

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"muster/internal/filelock"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/lane"
)

// memoryFolder is where Linux keeps files in memory.
const memoryFolder = "/dev/shm"

// basePrefix begins the names of folders that hold a run's lanes. It is short, so that a lane's
// path in memory can be as long as Canonical.
const basePrefix = ".mlanes-"

// markerName is the first file in such a folder. It is locked while the run lives.
const markerName = "lanes"

// marker is the content of that file. Without it, no run removes the folder.
const marker = "muster keeps the lanes of a run here (format 1). It removes this folder when the run is over.\n"

// base is the folder that contains the folders of the lanes. Its marker is locked while the run
// lives, so that a later run can recognise the folder of a killed run.
type base struct {
	dir  string
	lock *os.File
}

// inMemory reports whether reading the lanes' files never waits for a disk.
func (b *base) inMemory() bool { return strings.HasPrefix(b.dir, memoryFolder+"/") }

func newBase(o *Options) (*base, error) {
	disk, err := diskFolder()
	if err != nil {
		return nil, err
	}
	// Both are swept first, because the files of killed runs take room.
	sweep(memoryFolder, o.Warn)
	sweep(disk, o.Warn)
	parent := memoryFolder
	if why := whyUnfit(parent, o); why != "" {
		parent = disk
		o.Note(fmt.Sprintf(WorkElsewhere+" %s: %s", parent, why))
		warnIfSmall(parent, o)
	}
	b, err := makeBase(parent)
	if err != nil {
		return nil, fault.Environmentf("folder for the lanes: %w", withMend(err, roomMend(parent)))
	}
	return b, nil
}

// checkPrograms returns an error if programs in the folder of the lanes cannot run.
func (c *Crew) checkPrograms() error {
	dir, named, mend := c.base.dir, filepath.Dir(c.base.dir), "set TMPDIR to a folder that does"
	if keep := c.o.Keep; keep != "" {
		dir, named, mend = keep, keep, "give --keep a folder that does"
	}
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Flags&unix.ST_NOEXEC == 0 {
		return nil
	}
	return fault.Environmentf("%s %s, and cases may need to run some: %s", named, NoPrograms, mend)
}

// diskFolder returns TMPDIR as its processes see it: absolute, and without links, which a tool
// that prints its folder would resolve.
func diskFolder() (string, error) {
	dir, err := filepath.Abs(os.TempDir())
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fault.Environmentf("TMPDIR: %w", err)
	}
	return dir, nil
}

// makeBase makes a folder with a locked marker. Its lanes' paths are as long as Canonical, if the
// parent leaves room for that.
func makeBase(parent string) (*base, error) {
	dir := filepath.Join(parent, basePrefix+token(tokenLength(parent)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, markerName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		_, err = filelock.Take(f) // before it has content, so that no sweep takes it
	}
	if err == nil {
		_, err = f.WriteString(marker)
	}
	if err != nil {
		f.Close()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &base{dir: dir, lock: f}, nil
}

// tokenLength returns the number of random characters in the name of a run's folder. It brings
// a lane's path to the length of Canonical, and is large enough to distinguish two runs.
func tokenLength(parent string) int {
	return max(4, len(Canonical)-len(filepath.Join(parent, basePrefix, "000")))
}

// letters are the characters of a token.
const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// token returns n random characters for a folder's name.
func token(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}

// sweep removes the folders in parent that killed runs of this user left, and the processes of
// their cases. It touches no folder but those that takeMarker recognises. Errors are warnings.
func sweep(parent string, warn func(string)) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		random, found := strings.CutPrefix(e.Name(), basePrefix)
		if !found || len(random) != tokenLength(parent) || strings.Trim(random, letters) != "" {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		f, err := takeMarker(dir)
		if err != nil {
			continue
		}
		endStrays(dir)
		if err := removeBase(dir); err != nil {
			warn(fmt.Sprintf("left by a run that was killed: %v", err))
		}
		f.Close()
	}
}

var errForeign = errors.New("not a folder of lanes, or not this user's")

// takeMarker locks the marker of the folder of a killed run. It fails if the run lives, and for any
// folder that no run of this user made.
func takeMarker(dir string) (*os.File, error) {
	folder, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	if info, err := folder.Stat(); err != nil || !isOwn(info) {
		return nil, errForeign
	}
	fd, err := unix.Openat(int(folder.Fd()), markerName, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(dir, markerName))
	text := make([]byte, len(marker)+1)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && isOwn(info) {
		n, _ := f.ReadAt(text, 0)
		text = text[:n]
	}
	if string(text) == marker {
		if current, err := filelock.Take(f); err == nil && current {
			return f, nil
		}
	}
	f.Close()
	return nil, errForeign
}

func isOwn(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

func (b *base) remove() error {
	defer b.lock.Close()
	return removeBase(b.dir)
}

// removeBase removes a run's folder, the marker last. If it fails or is interrupted, the rest has
// its marker, and a later run can recognise it.
func removeBase(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	remove := removeFiles
	if lane.Detach(dir) != nil {
		remove = removeTree // it reports which mount is in the way
	}
	for _, e := range entries {
		if e.Name() != markerName {
			err = errors.Join(err, remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return remove(dir)
}

// errFull reports that a lane's file system has no room, and what helps.
type errFull struct{ text, mend string }

func (e *errFull) Error() string { return e.text + "; " + e.mend }

// helperFault returns the error for a fault that a helper reported.
func (c *Crew) helperFault(text string, changed, full bool) error {
	text = name.Print(text)
	switch {
	case changed:
		return fault.Inputf("%s; run again when nothing writes there", text)
	case full:
		return fault.Environmentf("%w", &errFull{text, c.roomMend()})
	}
	return fault.Environmentf("%s", text)
}

// withRoomMend adds what helps to an error of this process, if it means that there is no room.
func (c *Crew) withRoomMend(err error) error { return withMend(err, c.roomMend()) }

func withMend(err error, mend string) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fault.Environmentf("%w", &errFull{err.Error(), mend})
	}
	return err
}

func (c *Crew) roomMend() string {
	if c.o.Keep != "" {
		return fmt.Sprintf("free space in %s, or give --keep a folder on a larger disk", c.o.Keep)
	}
	return roomMend(filepath.Dir(c.base.dir))
}

// roomMend says what helps if the folder that contains the run's folder has no room.
func roomMend(parent string) string {
	if parent == memoryFolder {
		return fmt.Sprintf("free space in %s, or use fewer --jobs", parent)
	}
	return fmt.Sprintf("free space in %s, use fewer --jobs, or set TMPDIR to a larger disk", parent)
}

// processesMend says what helps if no process or thread can be started. The error is the same
// if the address space is too small for a thread's stack.
const processesMend = "no more processes or threads are allowed; raise the limit (ulimit -u or -v, or the container's on pids), or use fewer --jobs"

// withProcessesMend adds what helps if a helper cannot be forked.
func withProcessesMend(err error) error {
	if errors.Is(err, syscall.EAGAIN) {
		return fault.Environmentf("%w: %s", err, processesMend)
	}
	return err
}

// removeTree removes a folder with everything in it. It first detaches mounts in it. If that
// fails, it touches nothing.
func removeTree(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := lane.Detach(dir); err != nil {
		return fmt.Errorf("%w: unmount it and remove %s", err, dir)
	}
	return removeFiles(dir)
}

// removeFiles is os.RemoveAll for folders whose modes a case may have changed.
func removeFiles(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

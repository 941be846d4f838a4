package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"muster/regress/internal/fault"
)

// memoryFolder is where Linux keeps files in memory.
const memoryFolder = "/dev/shm"

// basePrefix begins the names of folders that hold a run's lanes.
const basePrefix = "muster-"

// base is the folder below which the lanes have theirs. Its lock is held while
// the run lives, so that a later run can tell what a killed one left.
type base struct {
	dir  string
	lock *os.File
}

func newBase(o *Options) (*base, error) {
	parent := memoryFolder
	if why := unfit(parent, o); why != "" {
		parent = os.TempDir()
		o.Note(fmt.Sprintf("lanes work in %s: %s", parent, why))
	}
	sweep(parent)
	var err error
	for range 3 { // another run's sweep may come between the folder and its lock
		var b *base
		if b, err = makeBase(parent); err == nil {
			return b, nil
		}
	}
	return nil, fault.Environmentf("folder for the lanes: %w", err)
}

// makeBase makes a locked folder whose lanes' paths are as long as Canonical,
// if the parent leaves room for that.
func makeBase(parent string) (*base, error) {
	random := max(4, len(Canonical)-len(filepath.Join(parent, basePrefix, "000"))+1)
	dir := filepath.Join(parent, basePrefix+token(random))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	held, err := lock(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &base{dir: dir, lock: held}, nil
}

// token returns n random characters for a folder's name.
func token(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	return string(b)
}

// unfit says why the lanes should not work in the memory folder, or "". Each
// lane may hold the given files, the largest source, and what a case leaves.
func unfit(dir string, o *Options) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil || int64(st.Type) != unix.TMPFS_MAGIC {
		return dir + " is not a file system in memory"
	}
	var given, largest int64
	for _, e := range o.Corpus.Given() {
		given += e.Size
	}
	for _, e := range o.Corpus.Cases() {
		largest = max(largest, e.Size)
	}
	need := int64(o.Lanes) * (given + largest + o.OutputMax)
	free := min(int64(st.Bavail)*int64(st.Bsize), availableMemory())
	if need > free {
		return fmt.Sprintf("%d lanes may need %d MiB and %s has %d", o.Lanes, need>>20, dir, free>>20)
	}
	if unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
		return dir + " cannot be written"
	}
	return ""
}

// availableMemory returns what the kernel says can be had without swapping.
func availableMemory() int64 {
	var kib int64
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	fmt.Sscan(rest, &kib)
	return kib << 10
}

func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes what killed runs of this user left in parent: folders whose
// lock nobody holds. It is best effort.
func sweep(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, basePrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ownedByUs(info) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, "lock")); err != nil {
			continue // just being made, or not a lanes' folder
		}
		if f, err := lock(dir); err == nil {
			removeTree(dir)
			f.Close()
		}
	}
}

func ownedByUs(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

func (b *base) remove() error {
	err := removeTree(b.dir)
	b.lock.Close()
	return err
}

// removeTree is os.RemoveAll for folders whose modes a case may have changed.
func removeTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

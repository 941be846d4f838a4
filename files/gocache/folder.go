package gocache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

type digest [sha256.Size]byte

func digestOf(id []byte) (d digest, ok bool) { return d, copy(d[:], id) == len(d) && len(id) == len(d) }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// A record describes the output of an action.
type record struct {
	output digest
	size   int64
	at     time.Time // when the output was made
}

const (
	recordFormat = "v1 %x %d %d\n"
	recordMax    = 200 // bytes
)

func (r record) text() string {
	return fmt.Sprintf(recordFormat, r.output[:], r.size, r.at.UnixNano())
}

// parseRecord reads a record, which anybody may have written.
func parseRecord(text []byte) (r record, ok bool) {
	var output []byte
	var at int64
	_, err := fmt.Sscanf(string(text), recordFormat, &output, &r.size, &at)
	r.output, ok = digestOf(output)
	r.at = time.Unix(0, at)
	return r, ok && err == nil && r.size >= 0 && r.text() == string(text)
}

// folder is the local folder. A go command opens the files in it, so each one is whole or absent.
// Go commands that run at the same time share it: each holds a shared lock, and files are only
// removed under an exclusive one.
type folder struct {
	dir   string
	most  int64 // bytes of files that trim leaves
	lock  *os.File
	grown sync.Once // see grow
}

const (
	lockName    = "lock"
	tempPattern = "new-*" // pattern of unfinished files
)

func openFolder(dir string, most int64) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH); err != nil {
		return nil, errors.Join(os.NewSyscallError("flock", err), lock.Close())
	}
	return &folder{dir: dir, most: most, lock: lock}, nil
}

func (f *folder) path(output digest) string { return f.file(output, "o") }

func (f *folder) file(d digest, kind string) string {
	name := d.String()
	return filepath.Join(f.dir, name[:2], name+"-"+kind)
}

// has reports whether the folder has the output of a record. It was checked when it was stored.
func (f *folder) has(r record) bool {
	info, err := os.Lstat(f.path(r.output))
	if err != nil || !info.Mode().IsRegular() || info.Size() != r.size {
		return false
	}
	refresh(f.path(r.output), info)
	return true
}

// refreshAfter is the age at which the time of a file that is used is set again. The time orders
// the files for trim.
const refreshAfter = time.Hour

func refresh(path string, info fs.FileInfo) {
	if now := time.Now(); now.Sub(info.ModTime()) > refreshAfter {
		_ = os.Chtimes(path, now, now) // the file is only removed too early
	}
}

// find returns the record of an action whose output the folder has.
func (f *folder) find(action digest) (record, bool) {
	path := f.file(action, "a")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > recordMax { // reading a pipe would hang
		return record{}, false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return record{}, false
	}
	r, ok := parseRecord(text)
	if !ok || !f.has(r) {
		return record{}, false
	}
	refresh(path, info)
	return r, true
}

// note stores the record of an action.
func (f *folder) note(action digest, r record) error {
	return f.write(f.file(action, "a"), func(w io.Writer) error {
		_, err := io.WriteString(w, r.text())
		return err
	})
}

// errContent is the error of content that does not have the announced digest.
var errContent = errors.New("the content does not have the announced SHA-256 and size")

// store stores the output of a record, if the content has its size and digest.
func (f *folder) store(r record, content io.Reader) error {
	return f.write(f.path(r.output), func(w io.Writer) error {
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(content, r.size+1))
		if err == nil && (n != r.size || digest(sum.Sum(nil)) != r.output) {
			err = errContent
		}
		return err
	})
}

// write creates or replaces a file as a whole.
func (f *folder) write(path string, content func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(f.dir, tempPattern)
	if err != nil {
		return err
	}
	err = errors.Join(content(temp), temp.Close())
	if err == nil {
		f.grown.Do(f.grow)
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// grow records that files were added, in the size of the lock file. Another go command may have
// to trim for this one, which ends earlier or is killed.
func (f *folder) grow() { _ = f.lock.Truncate(1) }

// trim removes the files that were not used for longest, until f.most bytes are left. It does so
// if files were added and no other go command uses the folder.
func (f *folder) trim() error {
	if info, err := f.lock.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	err := syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil // the last one trims
	}
	if err != nil {
		return os.NewSyscallError("flock", err)
	}
	type aged struct {
		path string
		size int64
		used time.Time
	}
	var list []aged
	total := int64(0)
	paths, err := filepath.Glob(filepath.Join(f.dir, "[0-9a-f][0-9a-f]", "*-[ao]"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			size := (info.Size() + blockSize - 1) / blockSize * blockSize
			list = append(list, aged{path, size, info.ModTime()})
			total += size
		}
	}
	slices.SortFunc(list, func(a, b aged) int { return a.used.Compare(b.used) })
	for _, old := range list {
		if total <= f.most {
			break
		}
		if err := os.Remove(old.path); err != nil {
			return err
		}
		total -= old.size
	}
	unfinished, err := filepath.Glob(filepath.Join(f.dir, tempPattern))
	for _, path := range unfinished {
		err = errors.Join(err, os.Remove(path))
	}
	return errors.Join(err, f.lock.Truncate(0))
}

// blockSize is the unit in which file systems store files, in bytes.
const blockSize = 4 << 10

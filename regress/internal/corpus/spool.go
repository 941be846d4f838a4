package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/regress/internal/fault"
)

// spoolKept is how many unpacked archives stay for the next run: the one in
// use, and one that somebody switches to and fro with.
const spoolKept = 2

// The names in the spool: corpus-KEY-SIZE.tar is whole, corpus-*.tmp is being
// written, and locked as long as its writer lives.
const (
	spoolPrefix = "corpus-"
	spoolWhole  = ".tar"
	spoolTemp   = ".tmp"
)

// spool is the folder for unpacked archives. Several processes may use one.
type spool struct {
	dir    string
	limits Limits
}

// find returns the whole file of that key, or nil.
func (s spool) find(key string) *os.File {
	for _, e := range s.list(spoolPrefix+key+"-", spoolWhole) {
		path := filepath.Join(s.dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		// The size is in the name because a rename may outlive a power cut that
		// the content did not.
		info, err := f.Stat()
		if err == nil && wholeName(key, info.Size()) == e.Name() {
			now := time.Now()
			_ = os.Chtimes(path, now, now) // so that prune keeps it; if it fails, it is unpacked again
			return f
		}
		f.Close()
		_ = os.Remove(path)
	}
	return nil
}

// key names what is unpacked of the source: it changes with the file's path,
// identity, size and time, and with the form of what is unpacked.
func (s *source) key() string {
	h := sha256.New()
	fmt.Fprintf(h, "spool 1\n%d %d\n", s.info.Size(), s.info.ModTime().UnixNano())
	if st, ok := s.info.Sys().(*syscall.Stat_t); ok {
		fmt.Fprintf(h, "%d %d\n", st.Dev, st.Ino)
	}
	fmt.Fprintf(h, "%s", s.path)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func wholeName(key string, size int64) string {
	return fmt.Sprintf("%s%s-%d%s", spoolPrefix, key, size, spoolWhole)
}

func (s spool) list(prefix, suffix string) []fs.DirEntry {
	all, _ := os.ReadDir(s.dir) // without the folder there is nothing
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix)
	})
}

// scratch is a spool file that is being written.
type scratch struct {
	spool spool
	path  string // "" once it has no name
	w     *os.File
	r     *os.File // reads the same file
}

// create makes a new file, and the folder when it is missing. A nameless one
// cannot be kept and never outlives the process, however that ends.
func (s spool) create(label string, nameless bool) (*scratch, error) {
	if s.dir == "" {
		return nil, fault.Environmentf("%s must be unpacked, and there is no folder for it; name one by --state", label)
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, spoolFault(label, s.dir, err)
	}
	for range 10 { // another process may tidy the file away before it is locked
		x, err := s.tryCreate()
		if err != nil {
			return nil, spoolFault(label, s.dir, err)
		}
		if x != nil {
			if nameless {
				x.unname()
			}
			return x, nil
		}
	}
	return nil, fault.Environmentf("%s cannot be unpacked to %s: its files are removed at once; find out by whom", label, s.dir)
}

func (s spool) tryCreate() (*scratch, error) {
	w, err := os.CreateTemp(s.dir, spoolPrefix+"*"+spoolTemp)
	if err != nil {
		return nil, err
	}
	x := &scratch{spool: s, path: w.Name(), w: w}
	if err := syscall.Flock(int(w.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		x.discard()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	if x.r, err = os.Open(x.path); err != nil {
		x.discard()
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	return x, nil
}

func (x *scratch) unname() {
	if x.path != "" {
		_ = os.Remove(x.path)
		x.path = ""
	}
}

// discard removes the file.
func (x *scratch) discard() {
	x.unname()
	x.w.Close()
	if x.r != nil {
		x.r.Close()
	}
}

// keep makes the written file the whole file of that key, for this run and the
// next, and returns it. With an empty key it is for this run alone.
func (x *scratch) keep(label, key string) (*os.File, error) {
	info, err := x.w.Stat()
	if err == nil && key != "" {
		whole := filepath.Join(x.spool.dir, wholeName(key, info.Size()))
		if err = os.Rename(x.path, whole); err == nil {
			x.path = ""
			x.spool.prune(whole)
		}
	}
	if err != nil {
		x.discard()
		return nil, spoolFault(label, x.spool.dir, err)
	}
	x.unname()
	if err := x.w.Close(); err != nil { // some file systems tell only now that the disk is full
		x.r.Close()
		return nil, spoolFault(label, x.spool.dir, err)
	}
	return x.r, nil
}

// prune removes what dead writers left and the whole files beyond the newest.
// What cannot be removed is tried again next time.
func (s spool) prune(current string) {
	for _, e := range s.list(spoolPrefix, spoolTemp) {
		removeUnlocked(filepath.Join(s.dir, e.Name()))
	}
	others := s.list(spoolPrefix, spoolWhole)
	others = slices.DeleteFunc(others, func(e fs.DirEntry) bool { return e.Name() == filepath.Base(current) })
	slices.SortFunc(others, func(a, b fs.DirEntry) int { return used(b).Compare(used(a)) })
	for _, e := range others[min(len(others), spoolKept-1):] {
		_ = os.Remove(filepath.Join(s.dir, e.Name()))
	}
}

func used(e fs.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func removeUnlocked(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.Remove(path)
	}
}

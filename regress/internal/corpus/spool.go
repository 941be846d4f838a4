package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
)

// spoolKept is how many unpacked archives stay for the next run: the one in
// use, and one that somebody switches to and fro with.
const spoolKept = 2

// The names in the spool: corpus-KEY.tar is whole if corpus-KEY.stamp says of it
// what filestamp does, corpus-*.tmp is being written, and locked as long as its
// writer lives.
const (
	spoolPrefix = "corpus-"
	spoolWhole  = ".tar"
	spoolStamp  = ".stamp"
	spoolTemp   = ".tmp"
)

// spool is the folder for unpacked archives. Several processes may use one.
type spool struct {
	dir    string
	limits Limits
}

// find returns the whole file of that key, or nil. It is not read: nothing must
// have changed it since its stamp was written, neither somebody nor a power cut
// that its name outlived and its content did not.
func (s spool) find(key string) *os.File {
	path := s.whole(key)
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if stamped(f) {
		now := time.Now()
		_ = os.Chtimes(stampFile(path), now, now) // so that prune keeps it; if it fails, it is unpacked again
		return f
	}
	f.Close()
	removeWhole(path)
	return nil
}

func stamped(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stamp, err := os.ReadFile(stampFile(f.Name()))
	return err == nil && string(stamp) == filestamp.Of(info)
}

// key names what is unpacked of the source: it changes with the file's path, with
// whatever shows that it is another or was written to, and with the form of what
// is unpacked.
func (s *source) key() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "spool 2\n%s\n%s", filestamp.Of(s.info), s.path))
	return hex.EncodeToString(sum[:16])
}

func (s spool) whole(key string) string {
	return filepath.Join(s.dir, spoolPrefix+key+spoolWhole)
}

// stampFile returns the path of the stamp of a whole file. It is a file of its
// own, whose time tells when the other was used last: that one must not change.
func stampFile(whole string) string {
	return strings.TrimSuffix(whole, spoolWhole) + spoolStamp
}

func removeWhole(path string) {
	_ = os.Remove(path)
	_ = os.Remove(stampFile(path))
}

// paths returns the files whose names begin and end so.
func (s spool) paths(prefix, suffix string) (all []string) {
	entries, _ := os.ReadDir(s.dir) // without the folder there is nothing
	for _, e := range entries {
		if n := e.Name(); e.Type().IsRegular() && strings.HasPrefix(n, prefix) && strings.HasSuffix(n, suffix) {
			all = append(all, filepath.Join(s.dir, n))
		}
	}
	return all
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
	whole := ""
	if key != "" {
		whole = x.spool.whole(key)
		if err := os.Rename(x.path, whole); err != nil {
			x.discard()
			return nil, spoolFault(label, x.spool.dir, err)
		}
		x.path = ""
		x.spool.prune(whole)
	}
	x.unname()
	if err := x.w.Close(); err != nil { // some file systems tell only now that the disk is full
		x.r.Close()
		return nil, spoolFault(label, x.spool.dir, err)
	}
	if whole != "" {
		x.stamp(whole)
	}
	return x.r, nil
}

// stamp writes down what the whole file is, now that nothing changes it any
// more. If it fails, it is unpacked again.
func (x *scratch) stamp(whole string) {
	if info, err := x.r.Stat(); err == nil {
		_ = os.WriteFile(stampFile(whole), []byte(filestamp.Of(info)), 0o600)
	}
}

// prune removes what dead writers left and the whole files beyond those that were
// used last. What cannot be removed is tried again next time.
func (s spool) prune(current string) {
	for _, path := range s.paths(spoolPrefix, spoolTemp) {
		removeUnlocked(path)
	}
	others := s.paths(spoolPrefix, spoolWhole)
	others = slices.DeleteFunc(others, func(path string) bool { return path == current })
	slices.SortFunc(others, func(a, b string) int { return modified(stampFile(b)).Compare(modified(stampFile(a))) })
	for _, path := range others[min(len(others), spoolKept-1):] {
		removeWhole(path)
	}
	whole := s.paths(spoolPrefix, spoolWhole)
	for _, path := range s.paths(spoolPrefix, spoolStamp) {
		if !slices.ContainsFunc(whole, func(w string) bool { return stampFile(w) == path }) {
			_ = os.Remove(path)
		}
	}
}

// modified returns when a file was written to, or long ago when there is none.
func modified(path string) time.Time {
	info, err := os.Stat(path)
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

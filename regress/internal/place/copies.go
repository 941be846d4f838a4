package place

import (
	"cmp"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"muster/internal/filelock"
	"muster/regress/internal/fault"
)

// copies are local copies of the golden at one address, in the folder of the copies of all addresses. Several
// processes may use the folder. A copy is a file remote-KEY-TAG.golden: KEY is the address's, and TAG is the ETag
// of the content in hexadecimal digits. Its modification time is its last use, in whole seconds, so that a write
// to it shows. A content without an ETag, or with a long one, keeps the name of an unfinished file until it is
// closed. Whoever uses a copy has a shared lock of it.
type copies struct{ dir, key string }

const (
	prefix     = "remote-"
	whole      = ".golden" // not .copy: that is how versions without tags in the name called them
	unfinished = ".part"

	copiesMax = 4         // of all addresses together, besides those in use
	tagMax    = 100       // bytes, because names are short
	deadAfter = time.Hour // since the last write to an unfinished file
)

// A localCopy is a copy in use. It exists at least until it is closed, and must not be written to.
type localCopy struct {
	*os.File
	path  string
	tag   string // identifies the content among all of the address; "" = the server sends no tag
	fresh bool   // it was fetched just now
}

// Close implements io.Closer. It removes a copy that nobody can find again.
func (c *localCopy) Close() error {
	if strings.HasSuffix(c.path, unfinished) {
		_ = os.Remove(c.path)
	}
	return c.File.Close()
}

// use notes that a copy is used now. It ignores an error: the copy is then fetched again, or removed too early.
func use(path string) {
	now := time.Now().Truncate(time.Second)
	_ = os.Chtimes(path, now, now)
}

// newest returns the newest copy, or nil.
func (c copies) newest() *localCopy {
	for _, path := range c.list(c.key) {
		if !strings.HasSuffix(path, whole) {
			continue
		}
		found := openCopy(path)
		if found == nil {
			continue
		}
		if info, err := found.Stat(); err == nil && info.ModTime().Nanosecond() == 0 {
			use(path)
			return found
		}
		found.Close() // it was written to
	}
	return nil
}

// list returns the files whose key begins with begins, the last used first.
func (c copies) list(begins string) (paths []string) {
	entries, _ := os.ReadDir(c.dir) // without the folder the list is empty
	used := map[string]time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasPrefix(e.Name(), prefix+begins) {
			path := filepath.Join(c.dir, e.Name())
			paths, used[path] = append(paths, path), info.ModTime()
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return used[b].Compare(used[a]) })
	return paths
}

// openCopy opens and locks a copy. It returns nil if another process has just removed it.
func openCopy(path string) *localCopy {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_SH) // without locks a copy may be removed while it is used
	opened, err := f.Stat()
	present, presentErr := os.Stat(path)
	if err != nil || presentErr != nil || !os.SameFile(opened, present) {
		f.Close()
		return nil
	}
	tag, err := hex.DecodeString(strings.TrimSuffix(path[strings.LastIndex(path, "-")+1:], whole))
	if err != nil {
		tag = nil
	}
	return &localCopy{File: f, path: path, tag: string(tag)}
}

func (c copies) create() (*os.File, error) {
	err := os.MkdirAll(c.dir, 0o755)
	if err == nil {
		var f *os.File
		if f, err = os.CreateTemp(c.dir, prefix+c.key+"-*"+unfinished); err == nil {
			return f, nil
		}
	}
	return nil, copyError(err)
}

func copyError(err error) error {
	return fault.Environmentf("keep a copy of what is at an address: %w: --state names another folder for it", err)
}

// finish makes the complete file f a copy, and closes f.
func (c copies) finish(f *os.File, tag string) (*localCopy, error) {
	path, err := c.adopt(f.Name(), tag)
	made := openCopy(path)
	err = cmp.Or(err, f.Close()) // some file systems report a full disk only at the close
	if err == nil && made == nil {
		err = errors.New("another process has removed it")
	}
	if err != nil {
		_ = os.Remove(path)
		return nil, copyError(err)
	}
	made.tag, made.fresh = tag, true
	return made, nil
}

// adopt renames the file at path, on the same file system, to that of a copy if the tag fits, and prunes. It returns
// the file's path.
func (c copies) adopt(path, tag string) (string, error) {
	if tag != "" && len(tag) <= tagMax {
		use(path)
		copied := filepath.Join(c.dir, prefix+c.key+"-"+hex.EncodeToString([]byte(tag))+whole)
		if err := os.Rename(path, copied); err != nil {
			return path, err
		}
		path = copied
	}
	c.prune(path)
	return path, nil
}

// prune removes older copies of this address, the least recently used copies of others, and files of dead
// writers. It leaves files in use.
func (c copies) prune(current string) {
	kept := 1
	for _, path := range c.list("") {
		info, err := os.Stat(path)
		older := strings.HasPrefix(filepath.Base(path), prefix+c.key+"-")
		switch {
		case err != nil, path == current, strings.HasSuffix(path, unfinished) && time.Since(info.ModTime()) < deadAfter:
		case strings.HasSuffix(path, whole) && !older && kept < copiesMax:
			kept++
		default:
			removeUnused(path)
		}
	}
}

func removeUnused(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if isCurrent, err := filelock.Take(f); isCurrent && err == nil {
		_ = os.Remove(path)
	}
}

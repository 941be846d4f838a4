package mirror

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
)

// Bounds of the copies of all places together, besides those in use.
const (
	copiesMax = 4
	bytesMax  = 4 << 30
)

// The names in the folder. remote-KEY-RANDOM.copy is whole if a .json of that name confirms it.
// Whoever writes or reads a copy locks it. lockName is locked while names are added or removed.
const (
	prefix   = "remote-"
	whole    = ".copy"
	noteEnds = ".json"
	lockName = prefix + "lock"
)

// note describes a whole copy. Its file's time is the last use of the copy.
type note struct {
	Version int    `json:"version"`
	ETag    string `json:"etag"`
	Stamp   string `json:"stamp"` // of the copy, to detect later writes
}

const noteVersion = 1

// cache holds the copies of one place, in the folder of all places. Several processes may use it.
type cache struct{ dir, key string }

// Copy is a local copy of the file at an address. It exists at least until it is closed, and must
// not be written to.
type Copy struct {
	Path  string
	Fresh bool // it was fetched just now

	tag  string
	held *os.File
}

// Tag identifies this content among all contents of the address; "" if the server sends no tag.
func (c *Copy) Tag() string { return c.tag }

// Close releases the copy, so that others may remove it.
func (c *Copy) Close() { c.held.Close() }

// Drop removes a bad copy, and closes it.
func (c *Copy) Drop() {
	remove(c.Path)
	c.Close()
}

func remove(path string) {
	_ = os.Remove(noteOf(path)) // without its note a file is not a copy
	_ = os.Remove(path)
}

func noteOf(path string) string { return strings.TrimSuffix(path, whole) + noteEnds }

// withLock calls do while no other process may.
func (c cache) withLock(do func() error) (err error) {
	defer func() {
		if err != nil {
			err = fault.Environmentf("keep a copy of what is at an address: %w: --state names another folder for it", err)
		}
	}()
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(c.dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := flock(f, unix.LOCK_EX); err != nil {
		return err
	}
	return do()
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// newest returns the newest copy, or nil.
func (c cache) newest() (found *Copy, err error) {
	err = c.withLock(func() error {
		paths := c.paths(prefix + c.key + "-")
		for _, path := range paths {
			if n, ok := read(path); ok && n.ETag != "" {
				now := time.Now()
				_ = os.Chtimes(noteOf(path), now, now) // otherwise it counts as unused
				found, err = openCopy(path, n.ETag)
				return err
			}
		}
		return nil
	})
	return found, err
}

// paths returns the files of copies with the given prefix, the last used first.
func (c cache) paths(begins string) (paths []string) {
	entries, _ := os.ReadDir(c.dir) // without the folder the list is empty
	used := map[string]time.Time{}
	for _, e := range entries {
		if n := e.Name(); e.Type().IsRegular() && strings.HasPrefix(n, begins) && strings.HasSuffix(n, whole) {
			path := filepath.Join(c.dir, n)
			paths = append(paths, path)
			if info, err := os.Stat(noteOf(path)); err == nil {
				used[path] = info.ModTime()
			}
		}
	}
	slices.SortStableFunc(paths, func(a, b string) int { return used[b].Compare(used[a]) })
	return paths
}

// read returns the note of a copy that is whole and unchanged.
func read(path string) (n note, ok bool) {
	text, err := os.ReadFile(noteOf(path))
	if err != nil || json.Unmarshal(text, &n) != nil || n.Version != noteVersion {
		return n, false
	}
	info, err := os.Stat(path)
	return n, err == nil && filestamp.Of(info) == n.Stamp
}

func openCopy(path, tag string) (*Copy, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := flock(f, unix.LOCK_SH); err != nil {
		f.Close()
		return nil, err
	}
	return &Copy{Path: path, tag: tag, held: f}, nil
}

// create makes a file for a copy. It is locked until it is closed.
func (c cache) create() (f *os.File, err error) {
	err = c.withLock(func() error {
		if f, err = os.CreateTemp(c.dir, prefix+c.key+"-*"+whole); err != nil {
			return err
		}
		return flock(f, unix.LOCK_EX)
	})
	return f, err
}

// commit makes the complete file f at path a copy, closes f, and removes older copies.
func (c cache) commit(path string, f *os.File, tag string) (made *Copy, err error) {
	err = c.withLock(func() error {
		info, err := f.Stat()
		if err = cmp.Or(err, f.Close()); err == nil { // some file systems report a full disk only at the close
			err = write(noteOf(path), note{noteVersion, tag, filestamp.Of(info)})
		}
		if err == nil {
			made, err = openCopy(path, tag)
		}
		if err != nil {
			remove(path)
			return err
		}
		c.prune(path)
		return nil
	})
	return made, err
}

func write(path string, n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// adopt makes a file of the same file system a copy. If that fails, the next Fetch fetches it.
func (c cache) adopt(path, tag string) {
	defer os.Remove(path) // if it did not get another name
	f, err := c.create()
	if err != nil {
		return
	}
	defer f.Close()
	taken, err := os.Open(path)
	if err == nil {
		err = os.Rename(path, f.Name())
	}
	if err != nil {
		remove(f.Name())
		return
	}
	if made, err := c.commit(f.Name(), taken, tag); err == nil {
		made.Close()
	}
}

// prune removes unused files: older copies of this place, files of dead writers, and the least
// recently used copies of other places.
func (c cache) prune(current string) {
	kept, bytes := 0, int64(0)
	for _, path := range c.paths(prefix) {
		info, err := os.Stat(path)
		if err != nil || path == current {
			continue
		}
		_, ok := read(path)
		older := strings.HasPrefix(filepath.Base(path), prefix+c.key+"-")
		if ok && !older && kept+1 < copiesMax && bytes+info.Size() <= bytesMax {
			kept++
			bytes += info.Size()
			continue
		}
		removeUnused(path)
	}
}

func removeUnused(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, unix.LOCK_EX|unix.LOCK_NB) == nil {
		remove(path)
	}
}

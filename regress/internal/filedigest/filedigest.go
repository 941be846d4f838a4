// Package filedigest computes the digests of files and remembers them between runs, so that
// an unchanged file of 100 MB is not read again.
//
// It must not decide which files matter, nor what a change means.
package filedigest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/outcome"
)

// Cache holds the digests of a cache file, and those computed since. Only one goroutine may use it.
type Cache struct {
	file string // "" = no cache file
	old  map[string]Digest
	now  map[string]Digest
	read int // files whose content was read
}

// Digest is the digest of a file, with the file's stamp, device and size at that time.
type Digest struct {
	Stamp  string         `json:"stamp"` // of package filestamp
	Device uint64         `json:"device"`
	Hash   outcome.Digest `json:"hash"`
	Size   int64          `json:"size"`
}

// version is the version of the cache file. A file of another version is ignored.
const version = 2

type cacheFile struct {
	Version int               `json:"version"`
	Files   map[string]Digest `json:"files"`
}

// restMin is how long a file must be unchanged before its digest is kept.
const restMin = 2 * time.Second

// ErrTooLarge reports that a file is larger than allowed.
var ErrTooLarge = errors.New("too large")

// ErrNoFile reports that a path is not a regular file but, for example, a folder or a pipe.
var ErrNoFile = errors.New("not a regular file")

// Open reads a cache file. A missing or damaged one is an empty cache.
func Open(file string) *Cache {
	c := &Cache{file: file, now: map[string]Digest{}}
	var kept cacheFile
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &kept) == nil && kept.Version == version {
		c.old = kept.Files
	}
	return c
}

// Of returns the digest of a file of at most sizeMax bytes. It reads the content only if the cache
// has no digest for the file's stamp.
func (c *Cache) Of(file string, sizeMax int64) (Digest, error) {
	f, info, err := OpenFile(file)
	if err != nil {
		return Digest{}, fault.Reason(err)
	}
	defer f.Close()
	if info.Size() > sizeMax {
		return Digest{}, ErrTooLarge
	}
	d, known := c.lookup(file, info)
	if !known {
		if d, err = c.sum(f, info); err != nil {
			return Digest{}, err
		}
	}
	if filestamp.HasRested(info, restMin) {
		c.now[file] = d
	}
	return d, nil
}

// lookup returns the cached digest of a file, if the file still has the stamp and device.
func (c *Cache) lookup(file string, info fs.FileInfo) (Digest, bool) {
	for _, digests := range []map[string]Digest{c.now, c.old} {
		if d, ok := digests[file]; ok && d.Stamp == filestamp.Of(info) && d.Device == deviceOf(info) {
			return d, true
		}
	}
	return Digest{}, false
}

// deviceOf returns the device of a file, because several file systems may be mounted at one path in
// turn.
func deviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

func (c *Cache) sum(f *os.File, info fs.FileInfo) (Digest, error) {
	c.read++
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return Digest{}, fault.Reason(err)
	}
	return Digest{filestamp.Of(info), deviceOf(info), outcome.Digest(h.Sum(nil)), n}, nil
}

// OpenFile opens a regular file. It opens no device, and never waits for a pipe.
func OpenFile(file string) (*os.File, fs.FileInfo, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, nil, ErrNoFile
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNoFile
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, nil, err
	}
	return f, info, nil
}

// Save replaces the cache file by the digests that this run used. If it fails, the next run
// computes them again.
func (c *Cache) Save() {
	if c.file == "" || c.read == 0 {
		return
	}
	b, err := json.Marshal(cacheFile{version, c.now})
	if err != nil || os.MkdirAll(filepath.Dir(c.file), 0o777) != nil {
		return
	}
	temp := fmt.Sprintf("%s.%d", c.file, os.Getpid())
	if os.WriteFile(temp, b, 0o666) != nil || os.Rename(temp, c.file) != nil {
		_ = os.Remove(temp)
	}
}

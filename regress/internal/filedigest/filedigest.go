// Package filedigest computes the digests of files and remembers them between runs, so that
// an unchanged file of 100 MB is not read again.
//
// It must not decide which files matter, nor what a change means.
package filedigest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
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
	read int           // files whose content was read
	rest time.Duration // filestamp.RestMin, but in tests
}

// Digest is the digest of a file, with the file's stamp and size at that time.
type Digest struct {
	Stamp string         `json:"stamp"` // of package filestamp, with the mount
	Hash  outcome.Digest `json:"hash"`
	Size  int64          `json:"size"`
	// IsTrusted says that the file has this digest as long as it has this stamp.
	IsTrusted bool `json:"-"`
}

// version is the version of the cache file. A file of another version is ignored.
const version = 3

type cacheFile struct {
	Version int               `json:"version"`
	Files   map[string]Digest `json:"files"`
}

// ErrTooLarge reports that a file is larger than allowed.
var ErrTooLarge = errors.New("too large")

// ErrNoFile reports that a path is not a regular file but, for example, a folder or a pipe.
var ErrNoFile = errors.New("not a regular file")

// Open reads a cache file. A missing or damaged one is an empty cache.
func Open(file string) *Cache {
	c := &Cache{file: file, now: map[string]Digest{}, rest: filestamp.RestMin}
	var kept cacheFile
	if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &kept) == nil && kept.Version == version {
		c.old = kept.Files
	}
	return c
}

// Of returns the digest of a file of at most sizeMax bytes. It reads the content unless the cache has the
// digest for the file's stamp, and the stamp can be trusted.
func (c *Cache) Of(file string, sizeMax int64) (Digest, error) {
	f, info, err := OpenFile(file)
	if err != nil {
		return Digest{}, fault.Reason(err)
	}
	defer f.Close()
	if info.Size() > sizeMax {
		return Digest{}, ErrTooLarge
	}
	return c.OfOpen(context.Background(), file, f)
}

// OfOpen is like Of, for an open file of any size. It does not move the file's offset. A reading ends with ctx.
func (c *Cache) OfOpen(ctx context.Context, file string, f *os.File) (d Digest, err error) {
	info, err := f.Stat()
	if err != nil {
		return d, fault.Reason(err)
	}
	stamp, isTrusted, isKnown := filestamp.OfFile(f, info), filestamp.IsTrusted(f, c.rest), false
	if isTrusted {
		d, isKnown = c.lookup(file, stamp)
	}
	if !isKnown {
		if d, err = c.sum(ctx, f, stamp); err != nil {
			return d, fault.Reason(err)
		}
	}
	if d.IsTrusted = isTrusted; isTrusted {
		c.now[file] = d
	}
	return d, nil
}

// lookup returns the cached digest of a file, if the file still has the stamp.
func (c *Cache) lookup(file, stamp string) (Digest, bool) {
	for _, digests := range []map[string]Digest{c.now, c.old} {
		if d, ok := digests[file]; ok && d.Stamp == stamp {
			return d, true
		}
	}
	return Digest{}, false
}

// sumBytes is how much is read between two looks at the context.
const sumBytes = 1 << 20

func (c *Cache) sum(ctx context.Context, f *os.File, stamp string) (d Digest, err error) {
	c.read++
	h, content := sha256.New(), io.NewSectionReader(f, 0, math.MaxInt64)
	for err == nil {
		var n int64
		if n, err = io.CopyN(h, content, sumBytes); err == nil {
			err = ctx.Err()
		}
		d.Size += n
	}
	if err == io.EOF {
		err = nil
	}
	d.Stamp, d.Hash = stamp, outcome.Digest(h.Sum(nil))
	return d, err
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
	if c.file == "" || c.read == 0 || len(c.now) == 0 {
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

// Package cached keeps local copies of the files of another store, such as a bucket. A read
// that finds a copy does not transfer the file again. The copies are bounded and may be lost.
//
// A copy holds a whole file with its size and its digest. A process verifies the digest when it first uses a copy. If
// the copies fail, files are read from the other store.
//
// The package must not know what kind of store the files are in.
package cached

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"muster/fileio"
)

// A Store reads files of its Origin through copies. Any number of goroutines may call its
// methods at the same time, except Close. Changes, lists and descriptions go to the Origin.
//
// A read that begins after a change has ended sees the change, whoever made it. Files whose name is
// the SHA-256 of their content, as in cas/HASH, are an exception. They come from their copies
// without a request to the Origin, until this Store changes them.
type Store struct {
	Origin
	copies Copies
	name   string // distinguishes the origin from others
	max    int64  // larger files have no copy
	log    *slog.Logger

	mu     sync.Mutex
	known  map[string]*knownCopy // by the files' names
	paused time.Time             // no copy is made until then

	// changes counts the changes of files whose name is their digest. Files share the counters: they are many, so
	// that changes of other files seldom end a fetch.
	changes [1 << 20]atomic.Int32

	closing context.Context // ends all fetches
	end     context.CancelFunc
	fetches sync.WaitGroup
	shared  singleflight.Group
	later   chan struct{} // has a value for each copy of a large file in progress

	hits, misses, hitBytes, missBytes atomic.Int64
}

// New returns a store that reads the files of one store through copies in another one. Close closes
// both. The store of the copies must evict files below [Folder].
func New(of Origin, copies Copies, o Options) *Store {
	s := &Store{
		Origin: of, copies: copies, name: o.Name, max: o.Max / 4, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		known: map[string]*knownCopy{}, later: make(chan struct{}, laterMax),
	}
	s.closing, s.end = context.WithCancel(context.Background())
	return s
}

// triesMax is how often Get tries to use copies while others change them.
const triesMax = 3

// Get opens a file. Unless the name is the SHA-256 of the content, Get asks the Origin which
// content the file has.
func (s *Store) Get(ctx context.Context, name string) (*fileio.File, error) {
	for range triesMax {
		if f, err := s.get(ctx, name); err != errAgain {
			return f, err
		}
	}
	return s.getDirectly(ctx, name)
}

func (s *Store) get(ctx context.Context, name string) (*fileio.File, error) {
	is, open := s.open(ctx, name)
	if is != nil && is.named {
		return s.serve(name, is, open, &s.hits, &s.hitBytes), nil
	}
	tag := ""
	if is != nil || digestIn(name) == nil {
		info, err := s.Stat(ctx, name)
		if err == nil && is != nil && is.Tag == info.Tag && is.Size == info.Size {
			return s.serve(name, is, open, &s.hits, &s.hitBytes), nil
		}
		closeFile(open)
		if err != nil {
			return nil, getError(name, err)
		}
		if tag = info.Tag; info.Size > min(waitedMax, s.max) {
			return s.getDirectly(ctx, name)
		}
	}
	if s.isPaused() {
		return s.getDirectly(ctx, name)
	}
	switch err := s.share(ctx, name, tag); {
	case errors.Is(err, errNoCopy):
		return s.getDirectly(ctx, name)
	case err != nil:
		return nil, err
	}
	is, open = s.open(ctx, name)
	if is == nil || tag != is.Tag && !is.named {
		closeFile(open)
		return nil, errAgain
	}
	return s.serve(name, is, open, &s.misses, &s.missBytes), nil
}

// serve returns a file that is read from its copy.
func (s *Store) serve(name string, is *knownCopy, open *fileio.File, files, bytes *atomic.Int64) *fileio.File {
	files.Add(1)
	info := fileio.Info{Name: name, Size: is.Size, Changed: is.Changed, Tag: is.Tag}
	return &fileio.File{Info: info, Content: &content{File: open, store: s, name: name, count: bytes}}
}

func (s *Store) getDirectly(ctx context.Context, name string) (*fileio.File, error) {
	f, err := s.Origin.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	s.misses.Add(1)
	return &fileio.File{Info: f.Info, Content: &content{File: f, store: s, name: name, direct: true, count: &s.missBytes}}, nil
}

// content is a copy, or a file of the origin.
type content struct {
	*fileio.File
	store  *Store
	name   string
	direct bool  // the file is one of the origin
	at     int64 // a reader who began at 0 has read until here
	count  *atomic.Int64
}

// CopyTo implements fileio.Content. A reader of a whole large file causes its copy. If a copy cannot be read, the next
// reader verifies it.
func (c *content) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	err := c.File.CopyTo(ctx, w, offset, n)
	switch {
	case err != nil && !c.direct:
		c.store.forget(c.name)
	case err == nil:
		c.count.Add(n)
		if offset == c.at {
			c.at += n
		}
	}
	if err == nil && c.direct && c.at == c.Size && c.Size > waitedMax && c.Size <= c.store.max {
		c.store.fetchLater(ctx, c.name, c.Tag)
	}
	return err
}

// getError converts an error of Stat to one of Get.
func getError(name string, err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "get", Path: name, Err: named.Err}
	}
	return err
}

// Put implements Origin.
func (s *Store) Put(ctx context.Context, name string, r io.Reader, size int64, want fileio.Condition) (fileio.Info, error) {
	info, err := s.Origin.Put(ctx, name, r, size, want)
	_ = s.drop(ctx, name) // a copy that could not be dropped still has the content that its name states
	return info, err
}

// Delete implements Origin. A copy that cannot be removed is an error, because it would be served.
func (s *Store) Delete(ctx context.Context, name string, want fileio.Condition) error {
	err := s.Origin.Delete(ctx, name, want)
	if dropErr := s.drop(ctx, name); dropErr != nil && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return fmt.Errorf("the copy of %s in the cache cannot be deleted: check its disk, and delete the file again: %w", name, dropErr)
	}
	return err
}

// Figures count the reads of files since the start.
type Figures struct {
	Hits, Misses        int64 // files that had a copy, and others
	HitBytes, MissBytes int64 // of hits, and of misses
}

// Figures returns the figures of this moment.
func (s *Store) Figures() Figures {
	return Figures{s.hits.Load(), s.misses.Load(), s.hitBytes.Load(), s.missBytes.Load()}
}

// Stats returns the Origin's figures, with the memory and the room of the copies.
func (s *Store) Stats() fileio.Stats {
	all, own := s.Origin.Stats(), s.copies.Stats()
	all.Threads, all.Memory = own.Threads, all.Memory+own.Memory
	all.Kept, all.Evicted, all.EvictedBytes = own.Kept, own.Evicted, own.EvictedBytes
	return all
}

// Close ends all fetches and closes both stores.
func (s *Store) Close() error {
	s.end()
	s.fetches.Wait()
	return errors.Join(s.copies.Close(), s.Origin.Close())
}

// Package cached keeps local copies of the files of another store, such as a bucket. A read
// that finds a copy does not transfer the file again. The copies are bounded and may be lost.
//
// A copy holds a piece of a file, so a reader waits for one piece, and reads only what it needs.
// If the copies fail, files are read from the other store.
//
// If a file named by its digest is deleted and its copy cannot be removed, the copy is not served. The next
// read of that name, and Close, try again to remove it. If the process is killed before that, or the
// disk stays broken, the next process serves the copy.
//
// The package must not know what kind of store the files are in.
package cached

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

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
	copies  *copies
	fetcher *fetcher
	figures figures
	max     int64
}

// New returns a store that reads the files of one store through copies in another one. Close closes
// both. The store of the copies must evict files below [Folder].
func New(of Origin, copies Copies, o Options) *Store {
	c := newCopies(copies, o)
	return &Store{Origin: of, copies: c, fetcher: newFetcher(of, c), max: o.Max / 4}
}

// CheckCopies returns an error if a store has files that are no copies.
func CheckCopies(ctx context.Context, copies Origin) error {
	for _, after := range []string{"", Folder + "\U0010FFFF"} { // the first file, and the first one behind copies
		infos, _, err := copies.List(ctx, "", after, 1)
		if err != nil {
			return err
		}
		for _, is := range infos {
			if !strings.HasPrefix(is.Name, Folder) {
				return fmt.Errorf("the folder has files that are no copies, such as %s: name an empty folder", is.Name)
			}
		}
	}
	return nil
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
	open, err := s.copies.open(ctx, name, 0)
	if errors.Is(err, fileio.ErrBusy) {
		return s.getDirectly(ctx, name)
	}
	found := err == nil
	if found && open.Proven && !open.stale {
		s.figures.hits.Add(1)
		return s.serve(fileio.Info{Name: name, Size: open.Size, Changed: open.Changed, Tag: open.Tag}, &content{open: open}), nil
	}
	p := piece{name: name}
	var info fileio.Info
	if addressed := digestIn(name) != nil; found || !addressed {
		info, err = s.Stat(ctx, name)
		if err == nil && found && open.Tag == info.Tag && open.Size == info.Size {
			s.figures.hits.Add(1)
			return s.serve(info, &content{open: open}), nil
		}
		if found {
			closeFile(open.file)
		}
		switch {
		case err != nil:
			if addressed && errors.Is(err, fs.ErrNotExist) {
				s.copies.drop(ctx, name)
			}
			return nil, getError(name, err)
		case addressed:
			_ = s.copies.remove(ctx, name) // else it is found again, and the file is read without copies
		default:
			p.tag = info.Tag
		}
	}
	if s.copies.isPaused() {
		return s.getDirectly(ctx, name)
	}
	var file *source
	fresh, err := s.fetcher.share(ctx, p, &file)
	switch {
	case err != nil:
		return nil, err
	case p.tag != "": // the fetch had the same tag
	case fresh.Tag == "": // an old copy was verified
		file.close()
		return nil, errAgain
	default:
		info = fresh
	}
	return s.serveFetched(ctx, info, file)
}

// serveFetched returns a file whose beginning was just copied.
func (s *Store) serveFetched(ctx context.Context, info fileio.Info, file *source) (*fileio.File, error) {
	c := &content{origin: file, fetched: true}
	f := s.serve(info, c)
	switch {
	case !c.tryOpen(ctx, 0) && file == nil:
		return nil, errAgain
	case c.open.file == nil:
		c.direct = true
	case info.Size <= pieceSize:
		c.origin = nil
		file.close()
	}
	s.figures.misses.Add(1)
	return f, nil
}

func (s *Store) serve(info fileio.Info, c *content) *fileio.File {
	c.fetcher, c.figures, c.max = s.fetcher, &s.figures, s.max
	c.Info, c.Content = info, c
	return &c.File
}

func (s *Store) getDirectly(ctx context.Context, name string) (*fileio.File, error) {
	file, err := s.fetcher.open(ctx, name)
	if err != nil {
		return nil, err
	}
	s.figures.misses.Add(1)
	return s.serve(file.Info, &content{origin: file, direct: true}), nil
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
	defer s.drop(ctx, name)
	return s.Origin.Put(ctx, name, r, size, want)
}

// Delete implements Origin.
func (s *Store) Delete(ctx context.Context, name string, want fileio.Condition) error {
	defer s.drop(ctx, name)
	return s.Origin.Delete(ctx, name, want)
}

// drop removes a copy that would be served without a request to the Origin. The copy may be of an
// old file even if this change was refused.
func (s *Store) drop(ctx context.Context, name string) {
	if digestIn(name) != nil {
		s.fetcher.drop(name)
		s.copies.drop(ctx, name)
	}
}

// Figures count the reads of files since the start.
type Figures struct {
	Hits, Misses        int64 // files whose beginning had a copy, and others
	HitBytes, MissBytes int64 // that were read from earlier copies, and others
}

// Figures returns the figures of this moment.
func (s *Store) Figures() Figures {
	f := &s.figures
	return Figures{f.hits.Load(), f.misses.Load(), f.hitBytes.Load(), f.missBytes.Load()}
}

// Stats returns the Origin's figures, with the memory and the room of the copies.
func (s *Store) Stats() fileio.Stats {
	all, own := s.Origin.Stats(), s.copies.store.Stats()
	all.Threads, all.Memory = own.Threads, all.Memory+own.Memory
	all.Kept, all.Evicted, all.EvictedBytes = own.Kept, own.Evicted, own.EvictedBytes
	return all
}

// Close ends all fetches and closes both stores.
func (s *Store) Close() error {
	s.fetcher.close()
	s.fetcher.wait.Wait()
	s.copies.removeStale()
	s.copies.operations.Wait()
	return errors.Join(s.copies.store.Close(), s.Origin.Close())
}

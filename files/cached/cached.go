// Package cached keeps local copies of the files of another store, such as a bucket. A read
// that finds a copy does not transfer the file again. The copies are bounded and may be lost.
//
// The package must not know what kind of store the files are in.
package cached

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"
	"sync"
	"time"

	"muster/fileio"
)

// Origin is a store that has files: those of all, or the copies.
type Origin interface {
	fileio.Files
	Stats() fileio.Stats
	Check(ctx context.Context) error
	Close() error
}

// A Store reads files of its Origin through copies. Any number of goroutines may call its
// methods at the same time, except Close. Changes, lists and descriptions go to the Origin.
type Store struct {
	Origin
	name   string
	copies Origin

	mu       sync.Mutex
	fetching map[string]*fetch

	closing context.Context // ends all fetches
	close   context.CancelFunc
	running sync.WaitGroup // fetches
}

// New returns a store with copies in another one, which it closes, and which evicts files below
// [Folder]. name distinguishes the origin from others whose files were copied there before.
func New(of Origin, name string, copies Origin) *Store {
	s := &Store{Origin: of, name: name, copies: copies, fetching: map[string]*fetch{}}
	s.closing, s.close = context.WithCancel(context.Background())
	return s
}

// Folder has all copies.
const Folder = "copies/"

// Get opens a file. A file whose name is the SHA-256 of its content, as in cas/HASH, comes from
// its copy without a request. Of other files, the Origin reports which content they have.
func (s *Store) Get(ctx context.Context, name string) (*fileio.File, error) {
	if err := fileio.CheckName(name); err != nil {
		return nil, err
	}
	info := fileio.Info{Name: name, Tag: digestIn(name), Size: -1}
	if info.Tag == "" {
		var err error
		if info, err = s.Stat(ctx, name); err != nil {
			if named, ok := errors.AsType[*fs.PathError](err); ok {
				err = &fs.PathError{Op: "get", Path: name, Err: named.Err}
			}
			return nil, err
		}
	}
	key := s.key(name, info.Tag)
	if f, err := s.open(ctx, key, info); err == nil {
		return f, nil
	}
	if err := s.share(ctx, key, info); err != nil {
		return nil, err
	}
	if f, err := s.open(ctx, key, info); err == nil {
		return f, nil
	}
	return s.Origin.Get(ctx, name) // it has another content now, or no copy can be kept
}

// Delete removes a file, and its copy if its content cannot change.
func (s *Store) Delete(ctx context.Context, name string, want fileio.Condition) error {
	err := s.Origin.Delete(ctx, name, want)
	if digest := digestIn(name); digest != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		_ = s.copies.Delete(ctx, s.key(name, digest), nil) // most have none
	}
	return err
}

// Stats returns the Origin's figures, with the memory and the room of the copies.
func (s *Store) Stats() fileio.Stats {
	all, own := s.Origin.Stats(), s.copies.Stats()
	all.Threads, all.Memory = own.Threads, all.Memory+own.Memory
	all.Kept, all.Evicted, all.EvictedBytes = own.Kept, own.Evicted, own.EvictedBytes
	return all
}

// Close ends all fetches, which may have outlived their clients, and closes both stores.
func (s *Store) Close() error {
	s.close()
	s.running.Wait()
	return errors.Join(s.copies.Close(), s.Origin.Close())
}

// digestIn returns the digest in a name such as cas/HASH; "" = the name is another one.
func digestIn(name string) string {
	folder, digest := path.Split(name)
	if _, err := hex.DecodeString(digest); err != nil || len(digest) != hex.EncodedLen(sha256.Size) || path.Base(folder) != "cas" {
		return ""
	}
	return digest
}

// key returns the name of a copy.
func (s *Store) key(name, tag string) string {
	sum := sha256.Sum256([]byte(s.name + "\n" + name + "\n" + tag))
	return Folder + hex.EncodeToString(sum[:])
}

// open opens a copy. A Size below 0 in info is that of the copy.
func (s *Store) open(ctx context.Context, key string, info fileio.Info) (*fileio.File, error) {
	f, err := s.copies.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if info.Size < 0 {
		info.Size, info.Changed = f.Size, f.Changed
	}
	if f.Size != info.Size {
		return nil, errors.Join(errOther, f.Close())
	}
	return &fileio.File{Info: info, Content: f}, nil
}

// errOther is the error of a content that is not the wanted one. It gets no copy.
var errOther = errors.New("another content")

// fetchMax is how long a file may take to be copied.
const fetchMax = 15 * time.Minute

// A fetch makes a copy, for all who want it.
type fetch struct {
	done chan struct{}
	err  error
}

// share makes a copy, or waits for another goroutine that makes it. It returns the Origin's
// errors. If no copy can be kept there is no error and no copy.
func (s *Store) share(ctx context.Context, key string, info fileio.Info) error {
	s.mu.Lock()
	f := s.fetching[key]
	if f == nil {
		f = &fetch{done: make(chan struct{})}
		s.fetching[key] = f
		s.running.Go(func() {
			// Others wait for it too, so it goes on if this client leaves.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchMax)
			defer cancel()
			defer context.AfterFunc(s.closing, cancel)()
			f.err = s.copy(ctx, key, info)
			s.mu.Lock()
			delete(s.fetching, key)
			s.mu.Unlock()
			close(f.done)
		})
	}
	s.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) copy(ctx context.Context, key string, info fileio.Info) error {
	if _, err := s.copies.Stat(ctx, key); err == nil {
		return nil // another fetch has just ended
	}
	f, err := s.Origin.Get(ctx, info.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := &watched{Reader: f.NewReader(ctx)}
	digest := digestIn(info.Name)
	if digest == "" && f.Tag != info.Tag {
		return nil // the file was replaced
	}
	var content io.Reader = r
	if digest != "" {
		content = &verified{content, sha256.New(), digest}
	}
	_, _ = s.copies.Put(ctx, key, content, f.Size, nil) // without a copy, Get asks the Origin
	return r.err
}

// watched keeps the error of a reader.
type watched struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (n int, err error) {
	if n, err = w.Reader.Read(p); err != io.EOF {
		w.err = err
	}
	return n, err
}

// verified ends with an error if the content does not have the digest.
type verified struct {
	io.Reader
	sum  hash.Hash
	want string
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.Reader.Read(p)
	_, _ = v.sum.Write(p[:n]) // a hash returns no error
	if err == io.EOF && hex.EncodeToString(v.sum.Sum(nil)) != v.want {
		err = errOther
	}
	return n, err
}

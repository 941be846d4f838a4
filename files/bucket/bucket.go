// Package bucket keeps whole files under names in a bucket of an S3-compatible object store.
// Any number of processes may use one bucket at the same time.
//
// Each request to the object store transfers a bounded piece, from memory or to memory. So a
// slow client holds no connection to it, and every request can be repeated. Waits, memory and
// connections are bounded, as in package fileio.
//
// Only this package may import the client of object stores. It must not know HTTP's side of
// the files, nor keep copies of them.
package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"

	"muster/fileio"
	"muster/internal/fair"
	"muster/internal/pages"
)

// Options of a store. Bucket is required.
type Options struct {
	Bucket string
	Prefix string // of all names in the bucket, without a slash at its end; "" = none

	// Endpoint is the address of the object store, such as https://s3.example.com; "" = that of
	// the variables AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL, or Amazon's. If its host is the bucket's
	// name and a domain with a dot, requests are in virtual-host style.
	Endpoint string

	// MemoryMax is how many bytes of files may be in memory at the same time; 0 = 128 MiB. One
	// half is for files on their way from the bucket, a quarter for small files on their way to
	// it, and a quarter for parts of large ones.
	MemoryMax int64

	// WaitingMax is how many requests may wait for a connection; 0 = 1,024. WaitMax is how long
	// one may wait for a connection or for memory; 0 = no limit. Others are refused with
	// fileio.ErrBusy.
	WaitingMax int
	WaitMax    time.Duration
}

const (
	memoryDefault  = 128 << 20
	waitingDefault = 1024

	// MemoryMin is the smallest MemoryMax. The quarter for parts then holds one part.
	MemoryMin = 4 * partSize
)

// A Store keeps files in a bucket. Any number of goroutines may call its methods at the same
// time, except Close. They are documented in fileio.Store, with these differences:
//
// The tag of a file depends on its content: files of the same content may have the same tag. If
// a file is replaced while it is read, CopyTo ends with an error. An acknowledged file survives
// what the object store survives.
type Store struct {
	remote *remote
	check  string // key of the file that every Check writes, so checks that are cut off leave one file at most

	turns         *fair.Budget // connections
	reads, writes *pages.Memory
	parts         *fair.Budget  // buffers for parts of large files
	unused        sync.Pool     // of *[partSize]byte
	linger        time.Duration // see lingerMax

	deletes atomic.Bool // Probe found that the object store obeys conditions of deletes
}

// Open returns the store in a bucket. It sends no request.
func Open(o Options) (*Store, error) {
	o.MemoryMax = cmp.Or(o.MemoryMax, memoryDefault)
	o.WaitingMax = cmp.Or(o.WaitingMax, waitingDefault)
	if o.MemoryMax < MemoryMin {
		return nil, fmt.Errorf("memory of %d bytes is too small: use at least %d", o.MemoryMax, MemoryMin)
	}
	s := &Store{
		linger: lingerMax,
		turns:  fair.New(fair.Options{Size: connectionsMax, WaitingMax: o.WaitingMax, WaitMax: o.WaitMax}),
		reads:  pages.New(o.MemoryMax/2, o.WaitMax),
		writes: pages.New(o.MemoryMax/4, o.WaitMax),
		parts:  fair.New(fair.Options{Size: o.MemoryMax / 4 / partSize, WaitingMax: o.WaitingMax, WaitMax: o.WaitMax, Shares: true}),
	}
	var err error
	if s.remote, err = connect(o.Endpoint, o.Bucket, o.Prefix); err != nil {
		return nil, err
	}
	s.check = s.remote.key(probeName())
	return s, nil
}

// Close closes the connections. No method may be called during or after Close.
func (s *Store) Close() error {
	s.remote.http.CloseIdleConnections()
	return nil
}

// Address returns the host of the object store.
func (s *Store) Address() string { return s.remote.host }

// Stats returns the figures of requests to the object store, and of memory.
func (s *Store) Stats() fileio.Stats {
	turns, parts := s.turns.Stats(), s.parts.Stats()
	return fileio.Stats{
		Waiting: int(turns.Waiting), Running: int(turns.Held), Wait: turns.Wait,
		Refused: turns.Refused + parts.Refused + s.reads.Refused() + s.writes.Refused(),
		Memory:  s.reads.Held() + s.writes.Held() + parts.Held*partSize,
	}
}

// Check writes a small file and removes it. It returns why that failed.
func (s *Store) Check(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, requestMax)
	defer cancel()
	_, err := s.remote.put(bounded, s.check, []byte("check"), condition{}, "")
	if err == nil {
		err = s.remote.remove(bounded, s.check, "")
	}
	return s.remote.explain(ctx, err)
}

// turn is how a request waits for a connection: Take or TakeLate of a budget.
type turn func(*fair.Budget, context.Context, fair.Client) error

// request calls do when it is the client's turn. do makes one request, and its repetitions.
func (s *Store) request(ctx context.Context, take turn, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := fair.ClientOf(ctx)
	if err := take(s.turns, ctx, c); err != nil {
		return err
	}
	defer s.turns.Give(c, 1)
	bounded, cancel := context.WithTimeout(ctx, requestMax)
	defer cancel()
	return s.remote.explain(ctx, do(bounded))
}

// Stat describes a file.
func (s *Store) Stat(ctx context.Context, name string) (fileio.Info, error) {
	if err := checkName(name); err != nil {
		return fileio.Info{}, err
	}
	is, err := s.stat(ctx, name, (*fair.Budget).Take)
	return infoOf(name, is), operationError("stat", name, err)
}

func (s *Store) stat(ctx context.Context, name string, take turn) (is minio.ObjectInfo, err error) {
	err = s.request(ctx, take, func(ctx context.Context) (err error) {
		is, err = s.remote.stat(ctx, name)
		return err
	})
	return is, err
}

// Delete removes a file if want is nil or allows it.
func (s *Store) Delete(ctx context.Context, name string, want fileio.Condition) error {
	if err := checkName(name); err != nil {
		return err
	}
	if want != nil && !s.deletes.Load() {
		return &wordedError{fmt.Sprintf("the object store at %s ignores conditions of a delete: delete without one", s.Address()), errors.ErrUnsupported}
	}
	now, err := s.evaluate(ctx, name, want) // a DELETE does not report whether the file existed
	switch {
	case err == nil && now.absent:
		err = fs.ErrNotExist
	case err == nil:
		if want == nil {
			now.match = ""
		}
		err = s.request(ctx, (*fair.Budget).TakeLate, func(ctx context.Context) error {
			return s.remote.remove(ctx, s.remote.key(name), now.match)
		})
	}
	return operationError("delete", name, err)
}

// evaluate returns the present state of a file, or fileio.ErrChanged if want does not allow it.
func (s *Store) evaluate(ctx context.Context, name string, want fileio.Condition) (condition, error) {
	is, err := s.stat(ctx, name, (*fair.Budget).Take)
	var now *fileio.Info
	switch {
	case err == nil:
		info := infoOf(name, is)
		now = &info
	case !errors.Is(err, fs.ErrNotExist):
		return condition{}, err
	}
	if want != nil && !want(now) {
		return condition{}, fileio.ErrChanged
	}
	if now == nil {
		return condition{absent: true}, nil
	}
	return condition{match: is.ETag}, nil
}

// List returns the files whose names begin with prefix and follow after, in order, at most
// most of them. more reports whether further files follow.
func (s *Store) List(ctx context.Context, prefix, after string, most int) (infos []fileio.Info, more bool, err error) {
	if most < 1 || most > fileio.ListMax {
		return nil, false, fmt.Errorf("a list of %d files is not possible: use 1 to %d", most, fileio.ListMax)
	}
	o := minio.ListObjectsOptions{Prefix: s.remote.key(strings.ToValidUTF8(prefix, "")), Recursive: true, MaxKeys: min(most+1, fileio.ListMax)}
	if after != "" {
		o.StartAfter = s.remote.key(after)
	}
	err = s.request(ctx, (*fair.Budget).Take, func(ctx context.Context) error {
		last := ""
		for object := range s.remote.client.ListObjectsIter(ctx, s.remote.bucket, o) {
			name, ours := strings.CutPrefix(object.Key, s.remote.prefix)
			switch {
			case object.Err != nil:
				return object.Err
			case object.Key <= last: // Amazon's directory buckets have no order, and a broken store may repeat a page for ever
				return &wordedError{fmt.Sprintf("the object store at %s lists files without an order, so a list would miss some: use another one", s.Address()), errors.ErrUnsupported}
			case !ours || checkName(name) != nil: // another program's, or a probe
			case !strings.HasPrefix(name, prefix) || name <= after: // not asked for
			case len(infos) == most:
				more = true
				return nil
			default:
				infos = append(infos, infoOf(name, object))
			}
			last = object.Key
		}
		return ctx.Err() // the iterator ends without an error if ctx does
	})
	if err != nil {
		return nil, false, err
	}
	return infos, more, nil
}

// operationError returns the error of an operation on a file.
func operationError(op, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fileio.ErrBusy), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, fileio.ErrChanged), errors.Is(err, errors.ErrUnsupported):
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

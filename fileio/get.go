package fileio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/tidwall/btree"
	"golang.org/x/sys/unix"

	"muster/internal/pages"
	"muster/pool"
)

// Files are the files of a store of any kind: of a *[Store] in a folder, or of a bucket. Any
// number of goroutines may call the methods at the same time. Store documents them.
type Files interface {
	Put(ctx context.Context, name string, r io.Reader, size int64, want Condition) (Info, error)
	Get(ctx context.Context, name string) (*File, error)
	Stat(ctx context.Context, name string) (Info, error)
	Delete(ctx context.Context, name string, want Condition) error
	List(ctx context.Context, prefix, after string, most int) (infos []Info, more bool, err error)
}

// A File has the content that the store had when Get returned, whatever is put later. Close it
// after use. Its methods must not be called concurrently.
type File struct {
	Info
	Content
}

// CopyTo copies as [Content] does. It refuses a part that exceeds the file.
func (f *File) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if offset < 0 || n < 0 || n > f.Size-offset {
		return fmt.Errorf("%d bytes at offset %d exceed the file of %d bytes", n, offset, f.Size)
	}
	return f.Content.CopyTo(ctx, w, offset, n)
}

// Content reads a File, for a Store or for another kind of store. Only File calls its CopyTo, always with
// a part that is in the file.
//
// CopyTo writes n bytes from offset on to w. If w is an io.ReaderFrom, such as a connection of
// package service, it may take the file from the system's memory without copying it. The error
// is [ErrBusy] if too many others wait, and w then has no byte. Close releases memory and
// descriptors.
type Content interface {
	CopyTo(ctx context.Context, w io.Writer, offset, n int64) error
	Close() error
}

// NewReader returns a reader of the file, from its beginning on.
func (f *File) NewReader(ctx context.Context) io.Reader { return &fileReader{ctx: ctx, file: f} }

type fileReader struct {
	ctx  context.Context
	file *File
	at   int64
}

func (r *fileReader) Read(p []byte) (int, error) {
	n := min(int64(len(p)), r.file.Size-r.at)
	if n <= 0 {
		return 0, io.EOF
	}
	// A buffer that reads by itself would look for the end, and grow.
	into := struct{ io.Writer }{bytes.NewBuffer(p[:0])}
	if err := r.file.CopyTo(r.ctx, into, r.at, n); err != nil {
		return 0, err
	}
	r.at += n
	return int(n), nil
}

// stored is the content of a Store's file.
type stored struct {
	File
	store     *Store
	buffer    *pages.Buffer // one piece after another; nil = none is needed yet
	beginning []byte        // or the whole file, until CopyTo needs the buffer for the rest
	file      int           // descriptor; -1 = beginning is the whole file

	opened *openFile // without a job, and may be read so; nil = by a job
	known  int64     // bytes of the beginning that the system had in memory
}

// firstSize is how much Get reads before it knows the size of the file.
const firstSize = 64 << 10

// copiedMax is the largest cached file that is copied: others are sent from the system's memory.
const copiedMax = 8 << 10

// Get opens a file. If it was not in the system's memory, its first 64 KiB are then in the
// store's, if the client's share allows it.
func (s *Store) Get(ctx context.Context, name string) (*File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f, err := getCached(ctx, s, name, true); f != nil || err != nil {
		return f, err
	}
	at := placeOf(name)
	b, err := s.reads.Take(ctx, firstSize)
	if err != nil {
		return nil, err
	}
	j := Job{Op: OpGet, Folder: s.descriptor(at.folder), Name: at.name, Data: b.Data}
	if err := s.execute(ctx, &j); err != nil {
		b.Free()
		return nil, operationError("get", name, err)
	}
	return fileOf(&stored{File: File{Info: infoOf(name, j.Info)}, store: s, buffer: b, beginning: b.Data[:j.N], file: j.File}), nil
}

// GetCached is like Get if the system has the beginning of the file in memory. Otherwise it returns nil,
// and does not wait for the disk.
func (s *Store) GetCached(ctx context.Context, name string) (*File, error) {
	return getCached(ctx, s, name, false)
}

// getCached returns a file that is open, or whose name the system has in memory.
func getCached(ctx context.Context, s *Store, name string, reads bool) (*File, error) {
	s.ledger.Use(name)
	opened, before := s.names.find(name)
	again := opened != nil
	if !again && !s.options.JobsOnly {
		at := placeOf(name)
		found, known, err := s.cache.open(s.descriptor(at.folder), at.name, name)
		if known && err != nil {
			return nil, operationError("get", name, err)
		}
		if known {
			s.names.keep(found, before)
			opened = found
		}
	}
	if opened == nil {
		return nil, nil
	}
	return openCached(ctx, s, opened, again, reads)
}

// openCached returns an open file, which was found again or just opened. If the system does not
// have all of its beginning in memory, a job reads the rest, or openCached returns nil.
func openCached(ctx context.Context, s *Store, opened *openFile, again, reads bool) (*File, error) {
	if content := opened.content.Load(); content != nil {
		opened.close()
		return fileOf(&stored{File: File{Info: opened.Info}, store: s, beginning: *content, file: -1}), nil
	}
	f := &stored{File: File{Info: opened.Info}, store: s, file: opened.file, opened: opened}
	first := min(f.Size, chunkSize)
	if first > copiedMax && s.cache.hasBeginning(opened, first) {
		f.known = first
		return fileOf(f), nil
	}
	if first > copiedMax && !reads {
		opened.close()
		return nil, nil
	}
	b, err := s.reads.Take(ctx, int(first))
	if err != nil {
		opened.close()
		return nil, err
	}
	f.buffer = b
	if f.Size > chunkSize {
		return fileOf(f), nil // copyPieces reads it
	}
	size := min(int(f.Size), len(b.Data)) // the client's share may allow less
	n := s.cache.read(f.file, b.Data[:size], 0)
	f.beginning = b.Data[:n]
	if int64(n) == f.Size {
		if again && n <= contentMax {
			content := bytes.Clone(f.beginning)
			opened.content.Store(&content)
		}
		opened.close()
		f.file = -1
		return fileOf(f), nil
	}
	if n == size {
		return fileOf(f), nil
	}
	if !reads {
		b.Free()
		opened.close()
		return nil, nil
	}
	j := Job{Op: OpRead, File: f.file, Data: b.Data[n:size], Offset: int64(n)}
	if err := s.execute(ctx, &j); err != nil {
		return nil, errors.Join(operationError("get", f.Name, err), f.Close())
	}
	f.beginning = b.Data[:n+j.N]
	return fileOf(f), nil
}

// fileOf returns the file of a content.
func fileOf(f *stored) *File {
	f.Content = f
	return &f.File
}

// CopyTo implements [Content]. A file that was in the system's memory may need the store's if
// w is not an io.ReaderFrom.
func (f *stored) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if known := int64(len(f.beginning)); offset < known {
		data := f.beginning[offset:min(known, offset+n)]
		if _, err := w.Write(data); err != nil {
			return err
		}
		offset, n = offset+int64(len(data)), n-int64(len(data))
	}
	if n == 0 {
		return nil
	}
	if f.file < 0 {
		return operationError("get", f.Name, io.ErrUnexpectedEOF)
	}
	f.beginning = nil
	take := f.store.reads.Take
	if to, ok := w.(io.ReaderFrom); ok && f.opened != nil {
		take = f.store.reads.TakeLate
		sent, err := f.store.cache.send(to, f.file, offset, n, f.known-offset)
		if err != nil {
			return err
		}
		offset, n = offset+sent, n-sent
	}
	if f.buffer == nil && n > 0 {
		b, err := take(ctx, 0)
		if err != nil {
			return operationError("get", f.Name, err)
		}
		f.buffer = b
	}
	return f.copyPieces(ctx, w, offset, n)
}

// copyPieces writes n bytes in pieces as large as the client's share allows. It fits the
// buffer again before each piece, so that a slow reader leaves memory to others.
func (f *stored) copyPieces(ctx context.Context, w io.Writer, offset, n int64) error {
	for n > 0 {
		f.buffer.Fit(int(min(n, chunkSize)))
		data := f.buffer.Data
		data = data[:min(n, int64(len(data)))]
		if err := f.read(ctx, data, offset); err != nil {
			return operationError("get", f.Name, err)
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		offset, n = offset+int64(len(data)), n-int64(len(data))
	}
	return nil
}

// read fills data from an offset. A job reads what the system does not have in memory.
func (f *stored) read(ctx context.Context, data []byte, offset int64) error {
	n := 0
	if f.opened != nil && f.store.cache.has(f.file, offset, int64(len(data))) {
		if n = f.store.cache.read(f.file, data, offset); n == len(data) {
			return nil
		}
	}
	j := Job{Op: OpRead, File: f.file, Data: data[n:], Offset: offset + int64(n)}
	if err := f.store.executeLate(ctx, &j); err != nil {
		return err
	}
	if j.N < len(j.Data) { // another program has truncated the file
		return io.ErrUnexpectedEOF
	}
	return nil
}

// Close implements [Content].
func (f *stored) Close() error {
	if f.buffer != nil {
		f.buffer.Free()
	}
	j := Job{Op: OpClose, File: f.file}
	f.file = -1
	switch {
	case j.File < 0, f.opened != nil && !f.opened.leave():
		return nil
	case f.known > 0: // no job has read it
		return unix.Close(j.File)
	}
	return f.store.engine.Do(&j)
}

// ListMax is the largest number of files that one call of List returns.
const ListMax = 1000

// List returns the files whose names begin with prefix and follow after, in order, at most
// most of them. more reports whether further files follow. The time depends only on the listed
// files, not on how many others exist. The list may or may not include files that are put or
// deleted meanwhile.
func (s *Store) List(ctx context.Context, prefix, after string, most int) (infos []Info, more bool, err error) {
	if most < 1 || most > ListMax {
		return nil, false, fmt.Errorf("a list of %d files is not possible: use 1 to %d", most, ListMax)
	}
	for {
		names := s.namesAfter(prefix, after, most+1)
		if more = len(names) > most; more {
			names = names[:most]
		}
		infos, err = s.statAll(ctx, names)
		if err != nil || len(infos) > 0 || !more {
			return infos, more && err == nil, err
		}
		after = names[most-1] // all of these files were deleted meanwhile
	}
}

// statAll describes the named files. It leaves out files that are gone meanwhile and entries
// that are not regular files.
func (s *Store) statAll(ctx context.Context, names []string) (infos []Info, err error) {
	all := make([]Info, len(names))
	numbers := make([]int, len(names))
	for i := range numbers {
		numbers[i] = i
	}
	err = pool.ForEach(ctx, folderWorkers, numbers, func(ctx context.Context, i int) error {
		e, err := s.statInTurn(ctx, placeOf(names[i]))
		switch {
		case err == nil:
			all[i] = infoOf(names[i], e)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EINVAL):
			return operationError("list", names[i], err)
		}
		return nil
	})
	return slices.DeleteFunc(all, func(i Info) bool { return i.Name == "" }), err
}

// newIndex returns an index of the names of all files, in order. It takes about 100 bytes of memory per name.
//
// A caller that changes the index holds the name's lock, so that the index and the disk change
// in the same order. After a disk error the index may have the name of a deleted file. It
// never lacks the name of a file.
func newIndex() *btree.BTreeG[string] {
	return btree.NewBTreeG(func(a, b string) bool { return a < b })
}

// namesAfter returns the first names that begin with prefix and follow name, at most most of
// them.
func (s *Store) namesAfter(prefix, name string, most int) (names []string) {
	s.index.Ascend(max(prefix, name), func(next string) bool {
		if !strings.HasPrefix(next, prefix) || len(names) == most {
			return false
		}
		if next > name {
			names = append(names, next)
		}
		return true
	})
	return names
}

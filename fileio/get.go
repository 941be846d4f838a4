package fileio

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A File has the content that the store had when Get returned, whatever is put later. Close it
// after use. Its methods must not be called concurrently.
type File struct {
	Info

	store  *Store
	buffer *buffer // holds the beginning or the whole file; later one piece after another
	filled int     // bytes of the beginning that are still in the buffer
	file   int     // descriptor; -1 = the buffer holds the whole file
}

// firstSize is how much Get reads before it knows the size of the file.
const firstSize = 64 << 10

// Get opens a file. A file of at most about 64 KiB is then in memory, if the client's share
// allows it.
func (s *Store) Get(ctx context.Context, name string) (*File, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at := placeOf(name)
	if !s.options.JobsOnly {
		file, e, known, err := s.cache.open(s.descriptor(at.folder), at.name)
		if known && err != nil {
			return nil, operationError("get", name, err)
		}
		if known {
			return s.openCached(ctx, infoOf(name, e), file)
		}
	}
	b, err := s.reads.newBuffer(ctx, firstSize)
	if err != nil {
		return nil, err
	}
	j := Job{Op: OpGet, Folder: s.descriptor(at.folder), Name: at.name, Data: b.data}
	if err := s.execute(ctx, &j); err != nil {
		b.free()
		return nil, operationError("get", name, err)
	}
	return &File{Info: infoOf(name, j.Info), store: s, buffer: b, filled: j.N, file: j.File}, nil
}

// openCached returns an open file with the part of its beginning that is in memory. A job
// reads the rest.
func (s *Store) openCached(ctx context.Context, info Info, file int) (*File, error) {
	b, err := s.reads.newBuffer(ctx, int(min(info.Size, chunkSize)))
	if err != nil {
		s.cache.close(file)
		return nil, err
	}
	f := &File{Info: info, store: s, buffer: b, file: file}
	if info.Size > chunkSize {
		return f, nil // copyPieces reads it
	}
	size := min(int(info.Size), len(b.data)) // the client's share may allow less
	f.filled = s.cache.read(file, b.data[:size])
	if int64(f.filled) == info.Size {
		s.cache.close(file)
		f.file = -1
		return f, nil
	}
	if f.filled == size {
		return f, nil
	}
	j := Job{Op: OpRead, File: file, Data: b.data[f.filled:size], Offset: int64(f.filled)}
	if err := s.execute(ctx, &j); err != nil {
		return nil, errors.Join(operationError("get", info.Name, err), f.Close())
	}
	f.filled += j.N
	return f, nil
}

// CopyTo writes n bytes from offset on to w.
func (f *File) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if offset < 0 || n < 0 || offset+n > f.Size {
		return fmt.Errorf("%d bytes at offset %d exceed the file of %d bytes", n, offset, f.Size)
	}
	if offset < int64(f.filled) {
		data := f.buffer.data[offset:min(int64(f.filled), offset+n)]
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
	f.filled = 0
	return f.copyPieces(ctx, w, offset, n)
}

// copyPieces writes n bytes in pieces as large as the client's share allows. It fits the
// buffer again before each piece, so that a slow reader leaves memory to others.
func (f *File) copyPieces(ctx context.Context, w io.Writer, offset, n int64) error {
	for n > 0 {
		f.buffer.fit(int(min(n, chunkSize)))
		data := f.buffer.data
		j := Job{Op: OpRead, File: f.file, Data: data[:min(n, int64(len(data)))], Offset: offset}
		if err := f.store.executeLate(ctx, &j); err != nil {
			return operationError("get", f.Name, err)
		}
		if j.N < len(j.Data) { // another program has truncated the file
			return operationError("get", f.Name, io.ErrUnexpectedEOF)
		}
		if _, err := w.Write(j.Data); err != nil {
			return err
		}
		offset, n = offset+int64(j.N), n-int64(j.N)
	}
	return nil
}

// Close releases the file's memory and descriptor.
func (f *File) Close() error {
	f.buffer.free()
	if f.file < 0 {
		return nil
	}
	j := Job{Op: OpClose, File: f.file}
	f.file = -1
	return f.store.engine.Do(&j)
}

package fileio

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A File is one as it was when Get returned it, whatever is put there later. It must be
// closed; its methods must not be called at the same time.
type File struct {
	Info

	store  *Store
	buffer *buffer // has the beginning, or all of it; later one piece after another
	filled int     // bytes of the beginning that are still in the buffer
	file   int     // descriptor; -1 = it is all in the buffer
}

// firstSize is what Get reads before it knows how much there is.
const firstSize = 64 << 10

// Get opens a file. One of at most some 64 KiB is then in memory, if the client's share allows
// it.
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
			return nil, failed("get", name, err)
		}
		if known {
			return s.fromMemory(ctx, infoOf(name, e), file)
		}
	}
	b, err := s.reads.take(ctx, firstSize)
	if err != nil {
		return nil, err
	}
	j := Job{Op: OpGet, Folder: s.descriptor(at.folder), Name: at.name, Data: b.data}
	if err := s.do(ctx, &j); err != nil {
		b.free()
		return nil, failed("get", name, err)
	}
	return &File{Info: infoOf(name, j.Info), store: s, buffer: b, filled: j.N, file: j.File}, nil
}

// fromMemory is a file that is open, with what of its beginning is in memory; what is not
// is for a job.
func (s *Store) fromMemory(ctx context.Context, info Info, file int) (*File, error) {
	b, err := s.reads.take(ctx, int(min(info.Size, chunkSize)))
	if err != nil {
		s.cache.close(file)
		return nil, err
	}
	f := &File{Info: info, store: s, buffer: b, file: file}
	if info.Size > chunkSize {
		return f, nil // in pieces
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
	if err := s.do(ctx, &j); err != nil {
		return nil, errors.Join(failed("get", info.Name, err), f.Close())
	}
	f.filled += j.N
	return f, nil
}

// CopyTo writes the bytes from offset on, n of them, to w.
func (f *File) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if offset < 0 || n < 0 || offset+n > f.Size {
		return fmt.Errorf("%d bytes from %d on of a file of %d", n, offset, f.Size)
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
		return failed("get", f.Name, io.ErrUnexpectedEOF)
	}
	f.filled = 0
	return f.copyPieces(ctx, w, offset, n)
}

// copyPieces writes n bytes, as many at a time as the client's share allows. It asks for the
// memory again before each piece, so that a slow reader leaves memory for others.
func (f *File) copyPieces(ctx context.Context, w io.Writer, offset, n int64) error {
	for n > 0 {
		f.buffer.fit(int(min(n, chunkSize)))
		data := f.buffer.data
		j := Job{Op: OpRead, File: f.file, Data: data[:min(n, int64(len(data)))], Offset: offset}
		if err := f.store.turn(ctx, &j); err != nil {
			return failed("get", f.Name, err)
		}
		if j.N < len(j.Data) { // somebody else has cut it
			return failed("get", f.Name, io.ErrUnexpectedEOF)
		}
		if _, err := w.Write(j.Data); err != nil {
			return err
		}
		offset, n = offset+int64(j.N), n-int64(j.N)
	}
	return nil
}

// Close gives back what the file holds.
func (f *File) Close() error {
	f.buffer.free()
	if f.file < 0 {
		return nil
	}
	j := Job{Op: OpClose, File: f.file}
	f.file = -1
	return f.store.engine.Do(&j)
}

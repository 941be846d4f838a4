package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"muster/fileio"
	"muster/internal/fair"
	"muster/internal/pages"
)

// firstSize is how much Get reads before it knows the size of the file.
const firstSize = 256 << 10

// content reads a file of the bucket.
type content struct {
	fileio.File
	store  *Store
	buffer *pages.Buffer // nil = the file is empty, or closed
	at     int64         // offset of the buffer's bytes
	filled int           // number of them
}

// Get opens a file, and reads its first 256 KiB if the client's share of memory allows it.
func (s *Store) Get(ctx context.Context, name string) (*fileio.File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	b, err := s.reads.Take(ctx, firstSize)
	if err != nil {
		return nil, err
	}
	f := &content{store: s, buffer: b}
	f.Content = f
	err = s.request(ctx, (*fair.Budget).Take, func(ctx context.Context) (err error) {
		f.Info, f.filled, err = s.remote.fetch(ctx, name, "", b.Data, 0)
		return err
	})
	if err != nil {
		b.Free()
		return nil, operationError("get", name, err)
	}
	return &f.File, nil
}

// CopyTo implements fileio.Content.
func (f *content) CopyTo(ctx context.Context, w io.Writer, offset, n int64) error {
	if offset < 0 || n < 0 || offset+n > f.Size {
		return fmt.Errorf("%d bytes at offset %d exceed the file of %d bytes", n, offset, f.Size)
	}
	for n > 0 {
		if offset < f.at || offset >= f.at+int64(f.filled) {
			if err := f.fill(ctx, offset, n); err != nil {
				return operationError("get", f.Name, err)
			}
		}
		data := f.buffer.Data[offset-f.at : f.filled]
		data = data[:min(int64(len(data)), n)]
		if _, err := w.Write(data); err != nil {
			return err
		}
		offset, n = offset+int64(len(data)), n-int64(len(data))
	}
	return nil
}

// fill reads the next piece of n bytes into the buffer, as large as the client's share allows.
func (f *content) fill(ctx context.Context, offset, n int64) error {
	f.filled = 0
	f.buffer.Fit(int(min(n, pages.Max)))
	data := f.buffer.Data
	data = data[:min(n, int64(len(data)))]
	err := f.store.request(ctx, (*fair.Budget).TakeLate, func(ctx context.Context) (err error) {
		_, f.filled, err = f.store.remote.fetch(ctx, f.Name, f.Tag, data, offset)
		return err
	})
	if err == nil && f.filled < len(data) || errors.Is(err, fileio.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
		err = errReplaced
	}
	f.at = offset
	if err != nil {
		f.filled = 0
	}
	return err
}

// Close implements fileio.Content.
func (f *content) Close() error {
	f.buffer.Free()
	return nil
}

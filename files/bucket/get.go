package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"muster/fileio"
	"muster/internal/fair"
	"muster/internal/pages"
)

// rangeMax is the size of the largest piece that one request reads.
const rangeMax = 8 << 20

// content reads a file of the bucket, with a request for each piece. If a piece is larger than the
// buffer, its answer stays open as a stream. Pieces grow while a reader goes on where it ended. A
// slow reader gets no streams, because an answer that is broken off was sent for nothing.
type content struct {
	fileio.File
	store  *Store
	buffer *pages.Buffer // nil = the file is empty, or closed
	at     int64         // offset of the buffer's bytes
	filled int           // number of them
	stream *stream       // of the bytes after them; nil = none
	left   int64         // how many bytes of the piece were not read yet
	window int64         // size of the last request
	slow   bool          // a stream was closed because the reader paused
}

// Get opens a file, and reads its first 256 KiB if the client's share of memory allows it.
func (s *Store) Get(ctx context.Context, name string) (*fileio.File, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	b, err := s.reads.Take(ctx, 0) // the smallest buffer, because many may wait for a connection
	if err != nil {
		return nil, err
	}
	f := &content{store: s, buffer: b}
	f.Content = f
	err = s.request(ctx, (*fair.Budget).Take, func(ctx context.Context) (err error) {
		f.Info, f.filled, err = s.remote.fetch(ctx, name, b)
		if isBroken(err) { // minio-go repeats no answer that has begun
			f.Info, f.filled, err = s.remote.fetch(ctx, name, b)
		}
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
	for begun := false; n > 0; begun = true {
		if offset < f.at || offset >= f.at+int64(f.filled) {
			err := f.fill(ctx, offset, n)
			if errors.Is(err, fileio.ErrBusy) && begun {
				err = errors.New(err.Error()) // ErrBusy would mean that w has no byte
			}
			if err != nil {
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

// fill reads a piece into the buffer, as large as the client's share allows. The next n bytes
// are needed.
func (f *content) fill(ctx context.Context, offset, n int64) error {
	follows := offset == f.at+int64(f.filled)
	f.at, f.filled = offset, 0
	if !follows {
		f.closeStream()
		f.left, f.window = 0, 0
	}
	if f.left == 0 {
		f.window = min(max(n, 2*f.window), rangeMax, f.Size-offset)
		f.left = f.window
	}
	if f.slow = f.slow || f.stream != nil && f.stream.closed(); f.slow {
		f.left = min(f.left, pages.Max)
	}
	f.buffer.Fit(int(min(f.left, pages.Max)))
	data := f.buffer.Data[:min(f.left, int64(len(f.buffer.Data)))]
	if f.stream == nil || f.stream.read(data) != nil {
		if err := f.request(ctx, data); err != nil {
			f.left = 0
			return err
		}
	}
	f.filled = len(data)
	if f.left -= int64(f.filled); f.left == 0 {
		f.closeStream()
	}
	return nil
}

// request requests the next f.left bytes. It reads the first ones into data, and keeps the answer
// as a stream.
func (f *content) request(ctx context.Context, data []byte) error {
	f.closeStream()
	s, c := f.store, fair.ClientOf(ctx)
	if err := s.turns.TakeLate(ctx, c); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, requestMax)
	end := func() {
		cancel()
		s.turns.Give(c, 1)
	}
	body, err := s.remote.openRest(bounded, f.Info, f.at, f.left, data)
	if err == nil {
		f.stream = newStream(body, end, s.linger)
		return nil
	}
	end()
	err = s.remote.explain(ctx, err)
	if errors.Is(err, fileio.ErrChanged) || errors.Is(err, fs.ErrNotExist) {
		return errReplaced
	}
	return err
}

func (f *content) closeStream() {
	if f.stream != nil {
		f.stream.close()
		f.stream = nil
	}
}

// Close implements fileio.Content.
func (f *content) Close() error {
	f.closeStream()
	f.buffer.Free()
	return nil
}

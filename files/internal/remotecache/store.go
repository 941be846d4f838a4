package remotecache

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"connectrpc.com/connect"

	"muster/fileio"
	"muster/pool"
)

// blobs are the contents in a store.
type blobs struct{ store fileio.Files }

// has reports whether a content is here. A file of another size is not that content.
func (b blobs) has(ctx context.Context, at instance, d digest) (bool, error) {
	if d == empty {
		return true, nil
	}
	info, err := b.store.Stat(ctx, at.content(d))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size == d.size, err
}

// errMissing is the error of a content that is not here. The client knows which one.
var errMissing = refuse(connect.CodeNotFound, "the content is not here")

// open opens a content. Close it after use. It is nil for the empty content.
func (b blobs) open(ctx context.Context, at instance, d digest) (*fileio.File, error) {
	f, err := b.store.Get(ctx, at.content(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing
	}
	if err != nil {
		return nil, err
	}
	if f.Size != d.size {
		f.Close()
		return nil, errMissing
	}
	return f, nil
}

// content reads a content into memory, for which the request must have room.
func (b blobs) content(ctx context.Context, at instance, d digest) ([]byte, error) {
	if d == empty {
		return nil, nil
	}
	f, err := b.open(ctx, at, d)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(ctx, f)
}

func readAll(ctx context.Context, f *fileio.File) ([]byte, error) {
	data := make([]byte, f.Size)
	_, err := io.ReadFull(f.NewReader(ctx), data)
	return data, err
}

// pieceMax is how many bytes of a content an answer of a stream has.
const pieceMax = 64 << 10

// contentWorkers is how many contents of one request are looked up, read or written at a time.
const contentWorkers = 8

// forEach calls do with the indexes below n.
func forEach(ctx context.Context, n int, do func(context.Context, int) error) error {
	indexes := make([]int32, n)
	for i := range indexes {
		indexes[i] = int32(i)
	}
	return pool.ForEach(ctx, contentWorkers, indexes, func(ctx context.Context, i int32) error { return do(ctx, int(i)) })
}

package mirror

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"muster/fileio"
	"muster/files"
	"muster/files/bucket"
	"muster/regress/internal/fault"
)

// object is a file in a bucket of an object store.
type object struct {
	address string
	name    string
	store   *bucket.Store
}

func newObject(address string) (*object, error) {
	in, key, _, err := bucket.ParseAddress(address)
	if err != nil {
		return nil, fault.Inputf("%w", err)
	}
	if key == "" || strings.HasSuffix(address, "/") {
		return nil, fault.Inputf("%s: this is not the address of a file, such as s3://BUCKET/NAME", address)
	}
	folder, name := path.Split(key)
	store, err := bucket.Open(bucket.Options{Bucket: in, Prefix: strings.TrimSuffix(folder, "/")})
	if err != nil {
		return nil, fault.Inputf("%s: %w", address, err)
	}
	return &object{address, name, store}, nil
}

func (o *object) get(ctx context.Context, tag string) (*files.Content, error) {
	f, err := o.store.Get(ctx, o.name)
	if err != nil {
		return nil, err
	}
	is := `"` + f.Tag + `"`
	if tag == is {
		return nil, errors.Join(files.ErrNotModified, f.Close())
	}
	return &files.Content{ReadCloser: &fileReader{ctx: ctx, File: f}, Attributes: files.Attributes{ETag: is, Size: f.Size}}, nil
}

// fileReader reads an open file from its beginning on.
type fileReader struct {
	*fileio.File
	ctx context.Context
	at  int64
}

// Read implements io.Reader.
func (r *fileReader) Read(p []byte) (int, error) {
	n := min(int64(len(p)), r.Size-r.at)
	if n == 0 {
		return 0, io.EOF
	}
	into := struct{ io.Writer }{bytes.NewBuffer(p[:0])} // p has room for n bytes
	if err := r.CopyTo(r.ctx, into, r.at, n); err != nil {
		return 0, err
	}
	r.at += n
	return int(n), nil
}

func (o *object) put(ctx context.Context, body io.ReaderAt, size int64, want files.Condition) (string, error) {
	info, err := o.store.Put(ctx, o.name, io.NewSectionReader(body, 0, size), size, func(now *fileio.Info) bool {
		if want.IfNoneMatchAll {
			return now == nil
		}
		return now != nil && want.IfMatch == `"`+now.Tag+`"`
	})
	return `"` + info.Tag + `"`, err
}

func (o *object) classify(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fault.Inputf("%s: %w", o.address, fs.ErrNotExist)
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the address says it
	}
	if errors.Is(err, fileio.ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
		return fault.Environmentf("%s: %w", o.address, err)
	}
	return fault.Inputf("%s: %w", o.address, err)
}

package place

import (
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

// object is a file in a bucket of an object store. Package bucket finds the store's address and its
// credentials in AWS's variables and files.
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
	return &files.Content{ReadCloser: closer{f.NewReader(ctx), f}, ETag: is, Size: f.Size}, nil
}

type closer struct {
	io.Reader
	io.Closer
}

func (o *object) put(ctx context.Context, body io.ReaderAt, size int64, want files.Condition) (string, error) {
	if err := o.store.Probe(ctx); err != nil {
		return "", err
	}
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

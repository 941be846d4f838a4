package bucket

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"muster/fileio"
	"muster/internal/fair"
	"muster/internal/pages"
)

// Put writes all bytes of r as a file. It replaces an existing file of that name if want is nil
// or allows it. size is the number of bytes in r, or -1 if unknown.
//
// With a condition, the object store changes the file only if it is still the one that want
// allowed. Call Probe before: some object stores ignore conditions.
func (s *Store) Put(ctx context.Context, name string, r io.Reader, size int64, want fileio.Condition) (fileio.Info, error) {
	if err := checkName(name); err != nil {
		return fileio.Info{}, err
	}
	p := &put{store: s, name: name, id: rand.Text()}
	if want != nil {
		var err error
		if p.want, err = s.evaluate(ctx, name, want); err != nil {
			return fileio.Info{}, operationError("put", name, err)
		}
	}
	info, err := p.run(ctx, r, size)
	return info, operationError("put", name, err)
}

// A put is a Put in progress.
type put struct {
	store *Store
	name  string
	id    string
	want  condition
}

func (p *put) run(ctx context.Context, r io.Reader, size int64) (fileio.Info, error) {
	if err := ctx.Err(); err != nil {
		return fileio.Info{}, err
	}
	b, n, whole, err := p.store.writes.TakeFrom(ctx, r, size)
	if err != nil {
		return fileio.Info{}, err
	}
	defer b.Free()
	if whole {
		return p.writeWhole(ctx, r, b.Data[:n], size)
	}
	c := fair.ClientOf(ctx)
	if err := p.store.parts.Take(ctx, c); err != nil {
		return fileio.Info{}, err
	}
	defer p.store.parts.Give(c, 1)
	part := p.store.takePart()
	defer p.store.unused.Put(part)
	copy(part[:], b.Data[:n])
	b.Free()
	return p.writeLarge(ctx, r, part, n, size)
}

// writeWhole writes a file whose bytes are all in memory.
func (p *put) writeWhole(ctx context.Context, r io.Reader, data []byte, size int64) (fileio.Info, error) {
	if err := pages.CheckEnd(r, int64(len(data)), size); err != nil {
		return fileio.Info{}, err
	}
	s := p.store
	tag, sent := "", false
	err := s.request(ctx, (*fair.Budget).Take, func(ctx context.Context) (err error) {
		sent = true
		tag, err = s.remote.put(ctx, s.remote.key(p.name), data, p.want, p.id)
		return err
	})
	if !sent { // nothing to look for, and finish would wait for a connection again
		return fileio.Info{}, err
	}
	return p.finish(ctx, tag, int64(len(data)), err)
}

// writeLarge writes a file whose first n bytes are in part.
func (p *put) writeLarge(ctx context.Context, r io.Reader, part *[partSize]byte, n int, size int64) (fileio.Info, error) {
	more, err := fillPart(r, part, n, size)
	n += more
	if err != nil {
		return fileio.Info{}, err
	}
	if n < partSize || int64(n) == size {
		return p.writeWhole(ctx, r, part[:n], size)
	}
	u := upload{remote: p.store.remote, key: p.store.remote.key(p.name)}
	err = p.store.request(ctx, (*fair.Budget).Take, func(ctx context.Context) error { return u.begin(ctx, p.id) })
	if err != nil {
		return fileio.Info{}, err
	}
	total, err := p.writeParts(ctx, &u, r, part, n, size)
	if err != nil {
		_ = u.abort(ctx) // the first error counts
		return fileio.Info{}, err
	}
	var tag string
	err = p.store.request(ctx, (*fair.Budget).TakeLate, func(ctx context.Context) (err error) {
		tag, err = u.complete(ctx, p.want)
		return err
	})
	info, err := p.finish(ctx, tag, total, err)
	if err != nil {
		_ = u.abort(ctx) // the first error counts
	}
	return info, err
}

// fillPart fills a part that has n bytes. From the part's beginning on, the file has left bytes;
// negative = unknown.
func fillPart(r io.Reader, part *[partSize]byte, n int, left int64) (int, error) {
	room := partSize
	if left >= 0 {
		room = int(min(int64(room), left))
	}
	return pages.Fill(r, part[n:room])
}

// writeParts sends the parts of a file. The first one has n bytes. While it sends a part, it
// reads the next one, if the client's share of memory suffices for two.
func (p *put) writeParts(ctx context.Context, u *upload, r io.Reader, part *[partSize]byte, n int, size int64) (total int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, c := part, fair.ClientOf(ctx)
	if p.store.parts.TryTake(c, 1) {
		defer p.store.parts.Give(c, 1)
		next = p.store.takePart()
		defer p.store.unused.Put(next)
	}
	for {
		data, answer := part[:n], make(chan error, 1)
		go func() {
			answer <- p.store.request(ctx, (*fair.Budget).TakeLate, func(ctx context.Context) error { return u.add(ctx, data) })
		}()
		sent := sync.OnceValue(func() error { return <-answer })
		if next == part {
			err = sent()
		}
		total += int64(n)
		left := int64(-1)
		if size >= 0 {
			left = size - total
		}
		ends := n < partSize || left == 0
		if err == nil && !ends {
			n, err = fillPart(r, next, 0, left)
			ends = n == 0 // the file ended with the last part
		}
		if err == nil && ends {
			err = pages.CheckEnd(r, total, size)
		}
		if err != nil {
			cancel()
		}
		if err = cmp.Or(err, sent()); err != nil || ends {
			return total, err
		}
		part, next = next, part
	}
}

// takePart returns unused memory for a part. The caller holds a unit of parts.
func (s *Store) takePart() *[partSize]byte {
	if part, ok := s.unused.Get().(*[partSize]byte); ok {
		return part
	}
	return new([partSize]byte)
}

// finish returns the Info of a written file. A request whose answer was lost is repeated, and
// the repetition may fail because the first one succeeded. So after an error, finish looks
// whether this Put wrote the file.
func (p *put) finish(ctx context.Context, tag string, size int64, err error) (fileio.Info, error) {
	if err != nil && ctx.Err() == nil {
		is, e := p.store.stat(ctx, p.name, (*fair.Budget).TakeLate)
		switch {
		case e == nil && is.UserMetadata[writeKey] == p.id:
			return infoOf(p.name, is), nil
		case e != nil && !errors.Is(e, fs.ErrNotExist):
			err = e // nobody knows whether the file is written
		}
	}
	if p.want.match != "" && errors.Is(err, fs.ErrNotExist) {
		err = fileio.ErrChanged // it was deleted meanwhile
	}
	if err != nil {
		return fileio.Info{}, err
	}
	return fileio.Info{Name: p.name, Size: size, Changed: time.Now(), Tag: tag}, nil
}

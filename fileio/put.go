package fileio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ErrSize is the error of a Put whose reader has another number of bytes than was said.
var ErrSize = errors.New("not as many bytes as were announced")

// Put writes a file, all of what r has, and replaces one of that name if want is nil or
// allows it. size is how many bytes r has, or -1 if that is not known.
//
// The file is there, whole, when Put has returned without an error, and outlives a power
// failure if the store was opened so. Else what was there before is there, or, where the
// error came from flushing, one of the two. What r returns as an error is returned.
func (s *Store) Put(ctx context.Context, name string, r io.Reader, size int64, want Condition) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	p := &put{store: s, name: name, at: placeOf(name), want: want}
	if want != nil { // once more when it is written, but then all of it was read
		e, err := s.statFor(ctx, p.at)
		if err := answer(name, e, err, want); err != nil {
			return Info{}, failed("put", name, err)
		}
	}
	e, err := p.run(ctx, r, size)
	return infoOf(name, e), failed("put", name, err)
}

// A put is one on its way.
type put struct {
	store *Store
	name  string
	at    place
	temp  string
	want  Condition

	entry    Entry  // of what was written
	failures uint64 // of flushes, before anything was written
}

func (p *put) run(ctx context.Context, r io.Reader, size int64) (Entry, error) {
	// A client that announces a file and sends nothing of it holds no memory.
	one := make([]byte, min(max(size, -size), 1))
	n, err := fill(r, one)
	if err != nil {
		return Entry{}, err
	}
	b, err := p.store.writes.take(ctx, len(one))
	if err != nil {
		return Entry{}, err
	}
	defer b.free()
	p.temp = p.store.temp()
	copy(b.data, one[:n])
	n, whole, err := p.fill(r, b, n, size)
	if err != nil {
		return Entry{}, err
	}
	if group := p.store.group; group != nil {
		p.failures = group.failures.Load()
	}
	if whole {
		if err := ends(r, int64(n), size); err != nil {
			return Entry{}, err
		}
		return p.small(ctx, b, n)
	}
	return p.large(ctx, r, b, n, size)
}

// fill reads into a buffer that has n bytes, and lets it grow with what arrives. It ends when
// the buffer is full and cannot grow, when r has no more, or when the buffer has left bytes; a
// negative left is no limit. It returns how many bytes the buffer has, and whether the file
// ends there.
func (p *put) fill(r io.Reader, b *buffer, n int, left int64) (filled int, whole bool, err error) {
	for {
		room := len(b.data)
		if left >= 0 {
			room = int(min(int64(room), left))
		}
		more, err := fill(r, b.data[n:room])
		n += more
		switch {
		case err != nil:
			return n, false, err
		case n < room || int64(n) == left:
			return n, true, nil
		case !b.grow():
			return n, false, nil
		}
	}
}

// fill reads until data is full or r has no more.
//
// It is not io.ReadFull, whose io.ErrUnexpectedEOF is also what a body says that was cut
// off, and that is no end.
func fill(r io.Reader, data []byte) (n int, err error) {
	for n < len(data) {
		more, err := r.Read(data[n:])
		n += more
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// ends checks that n bytes are all that r has, and as many as were announced.
func ends(r io.Reader, n, size int64) error {
	var one [1]byte
	more, err := io.ReadFull(r, one[:])
	switch {
	case more > 0:
		return fmt.Errorf("%w: more than %d", ErrSize, size)
	case err != io.EOF:
		return err
	case size >= 0 && n != size:
		return fmt.Errorf("%w: %d of %d", ErrSize, n, size)
	}
	return nil
}

// small writes a file that is whole in a buffer, and has n bytes. Where the file waits for its
// name, small frees the buffer before.
func (p *put) small(ctx context.Context, b *buffer, n int) (Entry, error) {
	s, data := p.store, b.data[:n]
	j := Job{Op: OpPut, Folder: s.descriptor(p.at.folder), Name: p.at.name, Temp: p.temp, Data: data, Sync: s.options.Sync == SyncEach}
	if s.options.Sync != SyncGroup && p.want == nil {
		leave, err := s.enterName(ctx, j.Op, p.name, false)
		if err != nil {
			return Entry{}, err
		}
		defer leave()
		err = s.engine.Do(&j)
		p.note(err)
		return j.Info, err
	}
	j.Op = OpStage
	if err := s.do(ctx, &j); err != nil {
		return Entry{}, err
	}
	b.free() // it is on the disk, and may wait for others before it has its name
	p.entry = j.Info
	return p.publish()
}

// large writes a file in pieces. Its first n bytes are in a buffer.
func (p *put) large(ctx context.Context, r io.Reader, b *buffer, n int, size int64) (Entry, error) {
	s := p.store
	j := Job{Op: OpCreate, Folder: s.descriptor(p.at.folder), Temp: p.temp}
	if err := s.do(ctx, &j); err != nil {
		return Entry{}, err
	}
	err := p.pieces(ctx, &j, r, b, n, size)
	// What has begun is ended, whatever becomes of the context.
	j.Op, j.Sync = OpSeal, err == nil && s.options.Sync == SyncEach
	if e := s.engine.Do(&j); err == nil {
		err = e
	}
	if err != nil {
		return Entry{}, errors.Join(err, p.discard())
	}
	b.free()
	p.entry = j.Info
	return p.publish()
}

func (p *put) pieces(ctx context.Context, j *Job, r io.Reader, b *buffer, n int, size int64) error {
	j.Op = OpWrite
	for whole := false; ; {
		if j.Data = b.data[:n]; n > 0 {
			if err := p.store.turn(ctx, j); err != nil {
				return err
			}
		}
		if j.Offset += int64(n); whole {
			return ends(r, j.Offset, size)
		}
		b.shrink()
		left := int64(-1)
		if size >= 0 {
			left = size - j.Offset
		}
		var err error
		if n, whole, err = p.fill(r, b, 0, left); err != nil {
			return err
		}
	}
}

// discard takes the temporary file away, if it is there.
func (p *put) discard() error {
	j := Job{Op: OpDiscard, Folder: p.store.descriptor(p.at.folder), Temp: p.temp}
	if err := p.store.engine.Do(&j); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// publish gives a file that is written, and closed, its name.
func (p *put) publish() (Entry, error) {
	s := p.store
	if s.group != nil {
		return s.group.publish(p)
	}
	return p.commit(s.options.Sync == SyncEach)
}

// note adds the name to the index, after an error only if the file is there all the same.
func (p *put) note(err error) {
	if err != nil {
		_, err = p.store.stat(p.at)
	}
	if err == nil {
		p.store.index.add(p.name)
	}
}

// commit renames the file, if that is wanted of what is there, and else takes it away.
func (p *put) commit(sync bool) (Entry, error) {
	s := p.store
	defer s.names.lock(p.name, p.want != nil)()
	err := s.check(p.name, p.at, p.want)
	if err == nil {
		j := Job{Op: OpCommit, Folder: s.descriptor(p.at.folder), Name: p.at.name, Temp: p.temp, Sync: sync}
		err = s.engine.Do(&j)
		p.note(err)
		if err == nil {
			return p.entry, nil
		}
	}
	return Entry{}, errors.Join(err, p.discard())
}

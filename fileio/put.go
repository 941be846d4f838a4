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
		if err := s.check(ctx, name, p.at, want); err != nil {
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
	first := chunkSize
	if size >= 0 && size < chunkSize {
		first = int(size)
	}
	// Who announces a file and sends nothing of it holds no memory.
	one := make([]byte, min(first, 1))
	n, err := fill(r, one)
	if err != nil {
		return Entry{}, err
	}
	b, err := p.store.buffer(ctx, first)
	if err != nil {
		return Entry{}, err
	}
	defer b.free()
	p.temp = p.store.temp()
	more, err := fill(r, b.data[copy(b.data, one[:n]):first])
	if err != nil {
		return Entry{}, err
	}
	n += more
	if group := p.store.group; group != nil {
		p.failures = group.failures.Load()
	}
	if n < first || int64(first) == size {
		if err := ends(r, int64(n), size); err != nil {
			return Entry{}, err
		}
		return p.small(ctx, b.data[:n])
	}
	return p.large(ctx, r, b.data[:n], size)
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

// small writes a file that is in memory.
func (p *put) small(ctx context.Context, data []byte) (Entry, error) {
	s := p.store
	j := Job{Op: OpPut, Folder: s.descriptor(p.at.folder), Name: p.at.name, Temp: p.temp, Data: data, Sync: s.options.Sync == SyncEach}
	if s.options.Sync != SyncGroup && p.want == nil {
		defer s.names.lock(p.name, false)()
		err := s.engine.Do(ctx, &j)
		p.note(ctx, err)
		return j.Info, err
	}
	j.Op = OpStage
	if err := s.engine.Do(ctx, &j); err != nil {
		return Entry{}, err
	}
	p.entry = j.Info
	return p.publish(ctx)
}

// large writes a file in pieces, of which data is the first.
func (p *put) large(ctx context.Context, r io.Reader, data []byte, size int64) (Entry, error) {
	s := p.store
	j := Job{Op: OpCreate, Folder: s.descriptor(p.at.folder), Temp: p.temp}
	if err := s.engine.Do(ctx, &j); err != nil {
		return Entry{}, err
	}
	j.Begun = true
	err := p.pieces(ctx, &j, r, data, size)
	// What has begun is ended, whatever becomes of the context.
	whole := context.WithoutCancel(ctx)
	j.Op, j.Sync = OpSeal, err == nil && s.options.Sync == SyncEach
	if e := s.engine.Do(whole, &j); err == nil {
		err = e
	}
	if err != nil {
		return Entry{}, errors.Join(err, p.discard(whole))
	}
	p.entry = j.Info
	return p.publish(ctx)
}

func (p *put) pieces(ctx context.Context, j *Job, r io.Reader, data []byte, size int64) error {
	j.Op, j.Data = OpWrite, data
	piece := data[:cap(data)]
	for {
		if err := p.store.engine.Do(ctx, j); err != nil {
			return err
		}
		j.Offset += int64(len(j.Data))
		if size >= 0 && j.Offset > size {
			return fmt.Errorf("%w: more than %d", ErrSize, size)
		}
		n, err := fill(r, piece[:chunkSize])
		if err != nil {
			return err
		}
		if n == 0 {
			return ends(r, j.Offset, size)
		}
		j.Data = piece[:n]
	}
}

// discard takes the temporary file away, if it is there.
func (p *put) discard(ctx context.Context) error {
	j := Job{Op: OpDiscard, Folder: p.store.descriptor(p.at.folder), Temp: p.temp, Begun: true}
	if err := p.store.engine.Do(ctx, &j); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// publish gives a file that is written, and closed, its name.
func (p *put) publish(ctx context.Context) (Entry, error) {
	s := p.store
	if s.group != nil {
		return s.group.publish(p)
	}
	return p.commit(ctx, s.options.Sync == SyncEach)
}

// note adds the name to the index, after an error only if the file is there all the same.
func (p *put) note(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, ErrBusy) {
		_, err = p.store.stat(context.WithoutCancel(ctx), p.at, true)
	}
	if err == nil {
		p.store.index.add(p.name)
	}
}

// commit renames the file, if that is wanted of what is there, and else takes it away.
func (p *put) commit(ctx context.Context, sync bool) (Entry, error) {
	s := p.store
	ctx = context.WithoutCancel(ctx) // it is on the disk already
	defer s.names.lock(p.name, p.want != nil)()
	err := s.check(ctx, p.name, p.at, p.want)
	if err == nil {
		j := Job{Op: OpCommit, Folder: s.descriptor(p.at.folder), Name: p.at.name, Temp: p.temp, Sync: sync, Begun: true}
		err = s.engine.Do(ctx, &j)
		p.note(ctx, err)
		if err == nil {
			return p.entry, nil
		}
	}
	return Entry{}, errors.Join(err, p.discard(ctx))
}

package fileio

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"muster/fileio/internal/ledger"
	"muster/internal/fair"
	"muster/internal/pages"
)

// ErrSize is the error of a Put whose reader does not have the announced number of bytes.
var ErrSize = pages.ErrSize

// Put writes all bytes of r as a file. It replaces an existing file of that name if want is
// nil or allows it. size is the number of bytes in r, or -1 if unknown.
//
// When Put returns without an error, the whole file exists. It survives a power failure if the
// store's Options.Sync says so. After an error the previous file is unchanged. After a failed
// flush, either the previous or the new file exists. Put returns errors of r.
func (s *Store) Put(ctx context.Context, name string, r io.Reader, size int64, want Condition) (Info, error) {
	if err := CheckName(name); err != nil {
		return Info{}, err
	}
	p := &put{store: s, name: name, at: placeOf(name), want: want}
	if want != nil { // refuse early, before r is read; commit checks again
		p.keep = name
		e, err := useInTurn(ctx, s, name) // a client that finds it here need not send it
		if err := evaluate(name, e, err, want); err != nil {
			return Info{}, operationError("put", name, err)
		}
	}
	if size >= 0 { // the same
		if err := s.ledger.Fits(ledger.Room(size), p.keep); err != nil {
			return Info{}, operationError("put", name, err)
		}
	}
	e, err := p.run(ctx, r, size)
	return infoOf(name, e), operationError("put", name, err)
}

// A put is a Put in progress.
type put struct {
	store *Store
	name  string
	at    place
	temp  string
	want  Condition
	keep  string // does not give way to the file: the condition is about it

	entry    Entry  // the written file
	failures uint64 // failed flushes before the file was written
	reserved int64  // room in the ledger
}

func (p *put) run(ctx context.Context, r io.Reader, size int64) (Entry, error) {
	b, n, whole, err := p.store.writes.TakeFrom(ctx, r, size)
	if err != nil {
		return Entry{}, err
	}
	defer b.Free()
	defer func() { p.store.ledger.Release(p.reserved) }()
	p.temp = p.store.newTempName()
	if group := p.store.group; group != nil {
		p.failures = group.failures.Load()
	}
	if whole {
		if err := pages.CheckEnd(r, int64(n), size); err != nil {
			return Entry{}, err
		}
		return p.writeSmall(ctx, b, n)
	}
	return p.writeLarge(ctx, r, b, n, size)
}

// writeSmall writes a file whose n bytes are all in a buffer. It frees the buffer before the
// file waits for its name.
func (p *put) writeSmall(ctx context.Context, b *pages.Buffer, n int) (Entry, error) {
	if err := p.reserve(ctx, int64(n)); err != nil {
		return Entry{}, err
	}
	s, data := p.store, b.Data[:n]
	j := Job{Op: OpPut, Folder: s.descriptor(p.at.folder), Name: p.at.name, Temp: p.temp, Data: data, Sync: s.options.Sync == SyncEach}
	if s.options.Sync != SyncGroup && p.want == nil {
		leave, err := s.enterName(ctx, j.Op, p.name, s.ledger != nil, (*fair.Budget).Take)
		if err != nil {
			return Entry{}, err
		}
		defer leave()
		err = s.engine.Do(&j)
		p.updateIndex(j.Info, err)
		return j.Info, err
	}
	j.Op = OpStage
	if err := s.execute(ctx, &j); err != nil {
		return Entry{}, err
	}
	b.Free() // the file is on the disk, and may now wait for other files
	p.entry = j.Info
	return p.publish()
}

// writeLarge writes a file in pieces. Its first n bytes are in a buffer.
func (p *put) writeLarge(ctx context.Context, r io.Reader, b *pages.Buffer, n int, size int64) (Entry, error) {
	s := p.store
	j := Job{Op: OpCreate, Folder: s.descriptor(p.at.folder), Temp: p.temp}
	if err := s.execute(ctx, &j); err != nil {
		return Entry{}, err
	}
	err := p.writePieces(ctx, &j, r, b, n, size)
	// Close the file even if the context has ended.
	j.Op, j.Sync = OpSeal, err == nil && s.options.Sync == SyncEach
	if e := s.engine.Do(&j); err == nil {
		err = e
	}
	if err != nil {
		return Entry{}, errors.Join(err, p.discard())
	}
	b.Free()
	p.entry = j.Info
	return p.publish()
}

func (p *put) writePieces(ctx context.Context, j *Job, r io.Reader, b *pages.Buffer, n int, size int64) error {
	j.Op = OpWrite
	for whole := false; ; {
		if j.Data = b.Data[:n]; n > 0 {
			if err := p.reserve(ctx, j.Offset+int64(n)); err != nil {
				return err
			}
			if err := p.store.executeLate(ctx, j); err != nil {
				return err
			}
		}
		if j.Offset += int64(n); whole {
			return pages.CheckEnd(r, j.Offset, size)
		}
		b.Shrink()
		left := int64(-1)
		if size >= 0 {
			left = size - j.Offset
		}
		var err error
		if n, whole, err = b.FillFrom(r, 0, left); err != nil {
			return err
		}
	}
}

// discard removes the temporary file, if it exists.
func (p *put) discard() error {
	j := Job{Op: OpDiscard, Folder: p.store.descriptor(p.at.folder), Temp: p.temp}
	if err := p.store.engine.Do(&j); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// publish gives a written and closed file its name.
func (p *put) publish() (Entry, error) {
	s := p.store
	if s.group != nil {
		return s.group.publish(p)
	}
	return p.commit(s.options.Sync == SyncEach)
}

// updateIndex adds the written file to the index and to the ledger. After an error it adds the
// file that exists nevertheless, if any.
func (p *put) updateIndex(written Entry, err error) {
	s := p.store
	if err != nil {
		written, err = s.stat(p.at)
	}
	switch {
	case err == nil:
		s.index.Set(p.name)
		s.ledger.Put(p.name, written.Size, p.reserved)
		p.reserved = 0
	case errors.Is(err, fs.ErrNotExist):
		s.ledger.Remove(p.name)
	}
}

// reserve makes room for the first size bytes of the file. Others may give way.
func (p *put) reserve(ctx context.Context, size int64) error {
	s := p.store
	more := ledger.Room(size) - p.reserved
	if s.ledger == nil || more <= 0 {
		return nil
	}
	victims, err := s.ledger.Reserve(more, p.keep)
	if err != nil {
		return err
	}
	p.reserved += more
	return evict(ctx, s, victims)
}

// evict deletes the files that give way. A power failure may bring them back, which the next
// start notices.
func evict(ctx context.Context, s *Store, victims []string) error {
	var errs []error
	for _, name := range victims {
		errs = append(errs, evictOne(ctx, s, name))
	}
	return errors.Join(errs...)
}

func evictOne(ctx context.Context, s *Store, name string) error {
	at := placeOf(name)
	// If the client goes, delete nevertheless: the ledger does not have these files any more.
	leave, err := s.enterName(context.WithoutCancel(ctx), OpDelete, name, true, (*fair.Budget).TakeLate)
	if err != nil {
		return err
	}
	defer leave()
	if s.ledger.Has(name) {
		return nil // a new file has replaced it
	}
	j := Job{Op: OpDelete, Folder: s.descriptor(at.folder), Name: at.name}
	err = s.engine.Do(&j)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		s.index.Delete(name)
		return nil
	}
	if e, err := s.stat(at); err == nil { // it is still there
		s.ledger.Put(name, e.Size, 0)
	}
	return operationError("evict", name, err)
}

// commit renames the file if the condition allows it, and removes it otherwise.
func (p *put) commit(sync bool) (Entry, error) {
	s := p.store
	defer s.names.lock(p.name, p.want != nil || s.ledger != nil)()
	err := s.checkCondition(p.name, p.at, p.want)
	if err == nil {
		j := Job{Op: OpCommit, Folder: s.descriptor(p.at.folder), Name: p.at.name, Temp: p.temp, Sync: sync}
		err = s.engine.Do(&j)
		p.updateIndex(p.entry, err)
		if err == nil {
			return p.entry, nil
		}
	}
	return Entry{}, errors.Join(err, p.discard())
}

package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"muster/fileio"
	"muster/pool"
)

// StoreOptions says what is put into a store of files and got from it.
type StoreOptions struct {
	Dir        string // an empty folder, which is left as it was
	Engine     EngineOptions
	Files      int
	Size       int // of each, in bytes
	Goroutines int // that put, and then get, at the same time
}

// StoreCost is what it took: all files were put, and then all were got.
type StoreCost struct {
	Put, Get Cost
	Threads  int // of this process, at most; 0 = the system does not tell
}

// Store measures whole files through a store of package fileio. Each operation is a job of
// the engine's, and nothing is flushed.
func Store(ctx context.Context, o StoreOptions) (cost StoreCost, err error) {
	if o.Files < 1 || o.Size < 0 || o.Goroutines < 1 {
		return cost, errors.New("files and goroutines must be 1 or more, size 0 or more")
	}
	if err := mustBeEmpty(o.Dir); err != nil {
		return cost, err
	}
	engine, err := o.Engine.open()
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, engine.Close(), empty(o.Dir)) }()
	store, err := fileio.Open(o.Dir, engine, fileio.Options{Sync: fileio.SyncNone, JobsOnly: true})
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s := newStored(store, o)
	if cost.Put, err = s.each(ctx, s.put); err != nil {
		return cost, err
	}
	cost.Get, err = s.each(ctx, s.get)
	// Go gives no thread back that it ever had, and the engine has all of its own still.
	cost.Threads = threads()
	return cost, err
}

// stored is the files of one measurement: names and contents are made before the clock
// starts.
type stored struct {
	store      *fileio.Store
	goroutines int
	names      []string
	content    []byte
}

func newStored(store *fileio.Store, o StoreOptions) *stored {
	s := &stored{store: store, goroutines: o.Goroutines, content: content(o.Size)}
	for i := range o.Files {
		s.names = append(s.names, strconv.Itoa(i))
	}
	return s
}

// each does one step for all files.
func (s *stored) each(ctx context.Context, do func(ctx context.Context, name string) error) (cost Cost, err error) {
	cost = measure(len(s.names), func(int) { err = pool.ForEach(ctx, s.goroutines, s.names, do) })
	return cost, err
}

func (s *stored) put(ctx context.Context, name string) error {
	_, err := s.store.Put(ctx, name, bytes.NewReader(s.content), int64(len(s.content)), nil)
	return err
}

func (s *stored) get(ctx context.Context, name string) error {
	file, err := s.store.Get(ctx, name)
	if err != nil {
		return err
	}
	read := expected{left: s.content}
	err = file.CopyTo(ctx, &read, 0, file.Size)
	if err == nil && len(read.left) > 0 {
		err = fmt.Errorf("%s ends %d bytes too early", name, len(read.left))
	}
	return errors.Join(err, file.Close())
}

// expected takes what is written to it, which must be as many bytes as it has. That they
// are the right ones is for tests of the store: to compare them would be a part of the
// cost.
type expected struct{ left []byte }

func (e *expected) Write(p []byte) (int, error) {
	if len(p) > len(e.left) {
		return 0, fmt.Errorf("%d bytes more than there are", len(p)-len(e.left))
	}
	e.left = e.left[len(p):]
	return len(p), nil
}

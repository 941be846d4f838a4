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

// StoreOptions configures [Store].
type StoreOptions struct {
	Dir        string // an empty folder; it is empty again afterwards
	Engine     EngineOptions
	Files      int
	Size       int // of each file, in bytes
	Goroutines int // that put, and then get, at the same time
}

// StoreCost is the result of [Store]: first all files were put, then all were read back.
type StoreCost struct {
	Put, Get Cost
	Threads  int // most threads of this process; 0 = unknown
}

// Store measures whole files through a store of package fileio. Each operation is a job of the
// engine, and nothing is flushed.
func Store(ctx context.Context, o StoreOptions) (cost StoreCost, err error) {
	if o.Files < 1 || o.Size < 0 || o.Goroutines < 1 {
		return cost, errors.New("files and goroutines must be 1 or more, size 0 or more")
	}
	if err := requireEmpty(o.Dir); err != nil {
		return cost, err
	}
	engine, err := o.Engine.open()
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, engine.Close(), removeContents(o.Dir)) }()
	store, err := fileio.Open(o.Dir, engine, fileio.Options{Sync: fileio.SyncNone, JobsOnly: true})
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s := newStoredFiles(store, o)
	if cost.Put, err = s.each(ctx, s.put); err != nil {
		return cost, err
	}
	cost.Get, err = s.each(ctx, s.get)
	// Go never releases a thread, and the engine still has all its threads.
	cost.Threads = threads()
	return cost, err
}

// storedFiles are the files of one measurement. Names and contents are made before the clock
// starts.
type storedFiles struct {
	store      *fileio.Store
	goroutines int
	names      []string
	content    []byte
}

func newStoredFiles(store *fileio.Store, o StoreOptions) *storedFiles {
	s := &storedFiles{store: store, goroutines: o.Goroutines, content: fileContent(o.Size)}
	for i := range o.Files {
		s.names = append(s.names, strconv.Itoa(i))
	}
	return s
}

// each applies one step to all files.
func (s *storedFiles) each(ctx context.Context, do func(ctx context.Context, name string) error) (cost Cost, err error) {
	cost = measure(len(s.names), func(int) { err = pool.ForEach(ctx, s.goroutines, s.names, do) })
	return cost, err
}

func (s *storedFiles) put(ctx context.Context, name string) error {
	_, err := s.store.Put(ctx, name, bytes.NewReader(s.content), int64(len(s.content)), nil)
	return err
}

func (s *storedFiles) get(ctx context.Context, name string) error {
	file, err := s.store.Get(ctx, name)
	if err != nil {
		return err
	}
	read := lengthCheck{left: s.content}
	err = file.CopyTo(ctx, &read, 0, file.Size)
	if err == nil && len(read.left) > 0 {
		err = fmt.Errorf("%s is %d bytes too short", name, len(read.left))
	}
	return errors.Join(err, file.Close())
}

// A lengthCheck accepts exactly as many bytes as left holds. It does not compare contents,
// because that would add to the cost; tests of the store do.
type lengthCheck struct{ left []byte }

func (e *lengthCheck) Write(p []byte) (int, error) {
	if len(p) > len(e.left) {
		return 0, fmt.Errorf("the file is %d bytes too long", len(p)-len(e.left))
	}
	e.left = e.left[len(p):]
	return len(p), nil
}

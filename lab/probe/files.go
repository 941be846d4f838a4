package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"muster/fileio"
	"muster/pool"
)

// FilesOptions configures [Files].
type FilesOptions struct {
	Dir     string // an empty folder; it is empty again afterwards
	Files   int
	Size    int // of each file, in bytes
	Workers int // files at the same time; 0 = 1
}

// FilesCost is the cost of each step for all files, one step after another. Nothing is
// flushed: writes end in the system's cache, and reads come from it if it is large enough.
type FilesCost struct {
	Create Cost // create, write, close
	Read   Cost // open, read, close
	Stat   Cost
	Rename Cost // within the folder
	Remove Cost
}

// Files measures operations on whole files with Go's package os. Each operation keeps a thread
// while it runs.
func Files(ctx context.Context, o FilesOptions) (FilesCost, error) {
	if o.Files < 1 || o.Size < 0 || o.Workers < 0 {
		return FilesCost{}, errors.New("files must be 1 or more, size and workers 0 or more")
	}
	if err := requireEmpty(o.Dir); err != nil {
		return FilesCost{}, err
	}
	f := newFolder(o)
	var cost FilesCost
	steps := []struct {
		cost *Cost
		do   func(n int) error
	}{
		{&cost.Create, f.create}, {&cost.Read, f.read}, {&cost.Stat, f.stat}, {&cost.Rename, f.rename}, {&cost.Remove, f.remove},
	}
	for _, step := range steps {
		var err error
		*step.cost, err = f.each(ctx, step.do)
		if err != nil {
			return cost, errors.Join(err, removeContents(o.Dir))
		}
	}
	return cost, nil
}

// folder holds the files of one measurement. Names and contents are made before the clock
// starts.
type folder struct {
	workers       int
	numbers       []int
	names, others []string // before and after the rename
	content       []byte
	buffers       chan []byte // read buffers, one for each worker
}

func newFolder(o FilesOptions) *folder {
	f := &folder{workers: max(1, o.Workers), content: fileContent(o.Size)}
	f.buffers = make(chan []byte, f.workers)
	for range f.workers {
		f.buffers <- make([]byte, o.Size)
	}
	for i := range o.Files {
		f.numbers = append(f.numbers, i)
		f.names = append(f.names, filepath.Join(o.Dir, fmt.Sprintf("%08d", i)))
		f.others = append(f.others, f.names[i]+".renamed")
	}
	return f
}

// fileContent returns the content of files of the given size.
func fileContent(size int) []byte {
	c := make([]byte, size)
	for i := range c {
		c[i] = byte(i * 7)
	}
	return c
}

// each applies one step to all files.
func (f *folder) each(ctx context.Context, do func(n int) error) (cost Cost, err error) {
	cost = measure(len(f.numbers), func(int) {
		err = pool.ForEach(ctx, f.workers, f.numbers, func(_ context.Context, n int) error { return do(n) })
	})
	return cost, err
}

func (f *folder) create(n int) error {
	file, err := os.OpenFile(f.names[n], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(f.content)
	return errors.Join(err, file.Close())
}

func (f *folder) read(n int) error {
	file, err := os.Open(f.names[n])
	if err != nil {
		return err
	}
	buffer := <-f.buffers
	_, err = io.ReadFull(file, buffer)
	f.buffers <- buffer
	return errors.Join(err, file.Close())
}

func (f *folder) stat(n int) error {
	_, err := os.Stat(f.names[n])
	return err
}

func (f *folder) rename(n int) error { return os.Rename(f.names[n], f.others[n]) }
func (f *folder) remove(n int) error { return os.Remove(f.others[n]) }

func requireEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: name an empty folder, because the probe removes everything in its folder", dir)
	}
	return err
}

// removeContents removes everything in a folder.
func removeContents(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// RenameOptions configures [Rename].
type RenameOptions struct {
	Dir     string // an empty folder; it is empty again afterwards
	Files   int
	Folders int // target folders, used in turn
}

// renamePortion is the number of files that are created, and then renamed, at a time. The
// source folder stays small, and only the target folders grow.
const renamePortion = 1_000

// Rename measures the renaming of empty files into one or several folders. The cost excludes
// their creation.
func Rename(ctx context.Context, o RenameOptions) (Cost, error) {
	if o.Files < 1 || o.Folders < 1 {
		return Cost{}, errors.New("files and folders must be 1 or more")
	}
	if err := requireEmpty(o.Dir); err != nil {
		return Cost{}, err
	}
	cost, err := renameAll(ctx, o)
	return cost, errors.Join(err, removeContents(o.Dir))
}

func renameAll(ctx context.Context, o RenameOptions) (all Cost, err error) {
	from := filepath.Join(o.Dir, "new")
	folders := make([]string, o.Folders)
	for i := range folders {
		folders[i] = filepath.Join(o.Dir, fmt.Sprintf("%04d", i))
	}
	for _, dir := range append(folders, from) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return all, err
		}
	}
	for first := 0; first < o.Files; first += renamePortion {
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		n := min(renamePortion, o.Files-first)
		old, renamed := make([]string, n), make([]string, n)
		for i := range n {
			name := fmt.Sprintf("%08d", first+i)
			old[i], renamed[i] = filepath.Join(from, name), filepath.Join(folders[(first+i)%o.Folders], name)
			if err := os.WriteFile(old[i], nil, 0o600); err != nil {
				return all, err
			}
		}
		cost := measure(n, func(n int) {
			for i := 0; i < n && err == nil; i++ {
				err = os.Rename(old[i], renamed[i])
			}
		})
		if err != nil {
			return all, err
		}
		all = Cost{all.N + cost.N, all.Wall + cost.Wall, all.CPU + cost.CPU}
	}
	return all, nil
}

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

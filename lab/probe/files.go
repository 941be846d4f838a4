package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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

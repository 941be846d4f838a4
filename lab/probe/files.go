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

// FilesOptions says what is done to how many files.
type FilesOptions struct {
	Dir     string // an empty folder, which is left as it was
	Files   int
	Size    int // of each, in bytes
	Workers int // that do it at the same time; 0 = 1
}

// FilesCost is what each step took for all files, one step after the other. Nothing is
// flushed: a read finds what was written in the system's cache, where that is large
// enough, and a write ends in it.
type FilesCost struct {
	Create Cost // create, write, close
	Read   Cost // open, read, close
	Stat   Cost
	Rename Cost // within the folder
	Remove Cost
}

// Files measures operations on whole files as Go's package os has them, each of which
// keeps a thread of the system for as long as it takes.
func Files(ctx context.Context, o FilesOptions) (FilesCost, error) {
	if o.Files < 1 || o.Size < 0 || o.Workers < 0 {
		return FilesCost{}, errors.New("files must be 1 or more, size and workers 0 or more")
	}
	if err := mustBeEmpty(o.Dir); err != nil {
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
			return cost, errors.Join(err, empty(o.Dir))
		}
	}
	return cost, nil
}

// folder is the files of one measurement: names and contents are made before the clock
// starts.
type folder struct {
	workers       int
	numbers       []int
	names, others []string // before and after they are renamed
	content       []byte
	buffers       chan []byte // to read into, one for each worker
}

func newFolder(o FilesOptions) *folder {
	f := &folder{workers: max(1, o.Workers), content: content(o.Size)}
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

// content is what files of that size have in them.
func content(size int) []byte {
	c := make([]byte, size)
	for i := range c {
		c[i] = byte(i * 7)
	}
	return c
}

// each does one step for all files.
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

func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty: a probe takes away what is in its folder, so give it one of its own", dir)
	}
	return err
}

// empty removes what is in a folder.
func empty(dir string) error {
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

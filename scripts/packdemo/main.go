// Command packdemo packs the first Go sources of the Go installation into a
// TAR: the corpus of "make demo", which everybody who can build muster has.
package main

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: packdemo FOLDER FILE.tar")
		os.Exit(2)
	}
	files, bytes, err := pack(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "packdemo:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d files, %.1f MB\n", os.Args[2], files, float64(bytes)/1e6)
}

// filesMax keeps the demo under a minute on two cores.
const filesMax = 3000

func pack(folder, archive string) (files int, bytes int64, err error) {
	f, err := os.Create(archive)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffered := bufio.NewWriterSize(f, 1<<20)
	w := tar.NewWriter(buffered)
	// DirFS follows the folder itself when it is a link, as in Debian's Go.
	root := os.DirFS(folder)
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case !d.Type().IsRegular() || path.Ext(name) != ".go":
			return nil
		}
		n, err := add(w, root, name)
		files, bytes = files+1, bytes+n
		if err == nil && files == filesMax {
			return fs.SkipAll
		}
		return err
	})
	return files, bytes, errors.Join(err, w.Close(), buffered.Flush())
}

func add(w *tar.Writer, root fs.FS, name string) (int64, error) {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	// One time for all, so that one Go version always gives the same bytes.
	err = w.WriteHeader(&tar.Header{
		Name: name, Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(0, 0),
	})
	if err != nil {
		return 0, err
	}
	n, err := w.Write(data)
	return int64(n), err
}

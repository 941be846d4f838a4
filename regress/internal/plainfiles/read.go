package plainfiles

import (
	"io"
	"os"
	"syscall"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// jsonBytesMax bounds a JSON file, which is held in memory. A case with the largest possible number
// of files needs a tenth of it.
const jsonBytesMax = 256 << 20

// openFolder opens the folder of an export.
func openFolder(dir string) (*os.Root, error) {
	if err := checkFolder(dir); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// checkFolder refuses anything except a folder before it is opened: opening a named pipe would wait
// for a writer.
func checkFolder(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fault.Inputf("%s is not a folder", dir)
	}
	return err
}

// openFile opens a regular file of an export.
func openFile(from *os.Root, at string) (*os.File, error) {
	f, err := from.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fault.Inputf("%s is not a regular file", name.Print(at))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readJSON returns the bytes of a JSON file of an export.
func readJSON(from *os.Root, at string) ([]byte, error) {
	f, err := openFile(from, at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > jsonBytesMax {
		err = fault.Inputf("%s has %s, more than %s", at, readable.Count(info.Size(), "byte"), readable.Number(int64(jsonBytesMax)))
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

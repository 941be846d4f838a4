package reduce

import (
	"errors"
	"io/fs"
	"muster/regress/internal/corpus"
	"muster/regress/internal/fault"
	"muster/regress/internal/run"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

// givenMax is the size of the headers and context that are copied beside a reduced source, in bytes.
const givenMax = 256 << 20

// resultFolder is the folder of the reduced sources of a run. It is a corpus: the files that all cases are
// given are in it too.
type resultFolder struct {
	path     string
	inputs   *run.Inputs
	givenMax int64
}

// file is the path of a reduced source.
func (f resultFolder) file(caseName string) string {
	return filepath.Join(f.path, filepath.FromSlash(caseName))
}

// write writes a source and what all cases are given, and returns the size of the latter if that is too
// much to copy, else 0.
func (f resultFolder) write(e corpus.Entry, source []byte) (tooMuch int64, err error) {
	if err := os.MkdirAll(f.path, 0o755); err != nil {
		return 0, fault.Environmentf("keep the reduced source: %w", err)
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return 0, fault.Environmentf("keep the reduced source: %w", err)
	}
	defer root.Close()
	if tooMuch, err = f.writeGiven(root, e.Name); err != nil {
		return 0, fault.Environmentf("keep the files that the reduced source needs: %w", err)
	}
	if err := placeEntry(root, e, source); err != nil {
		return 0, fault.Environmentf("keep the reduced source: %w", err)
	}
	return tooMuch, nil
}

// writeGiven writes the files that all cases are given, and returns their size if that is too much to
// copy, else 0.
func (f resultFolder) writeGiven(root *os.Root, caseName string) (tooMuch int64, err error) {
	given, size := f.inputs.Corpus.Given(), int64(0)
	for _, e := range given {
		size += e.Size
	}
	if size > f.givenMax {
		return size, nil
	}
	for _, e := range given {
		if e.Name == caseName {
			continue
		}
		if e.IsLink {
			if err := link(root, e); err != nil {
				return 0, err
			}
			continue
		}
		content, err := f.inputs.Read(e)
		if err == nil {
			err = placeEntry(root, e, content)
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// placeEntry writes an entry in one step, so that an interruption leaves the earlier one. It
// renames a file from a folder that no corpus reads: the entry's name may be too long to add a
// suffix. Each process has its own file, because another may reduce another case.
func placeEntry(root *os.Root, e corpus.Entry, content []byte) error {
	mode := fs.FileMode(0o644)
	if e.Exec {
		mode = 0o755
	}
	const folder = ".muster"
	unfinished := folder + "/reduced." + strconv.Itoa(os.Getpid()) + ".new"
	err := errors.Join(root.MkdirAll(path.Dir(e.Name), 0o755), root.MkdirAll(folder, 0o755))
	if err != nil {
		return err
	}
	if err = root.WriteFile(unfinished, content, mode); err == nil {
		err = root.Rename(unfinished, e.Name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(unfinished))
	}
	return nil
}

func link(root *os.Root, e corpus.Entry) error {
	err := root.MkdirAll(path.Dir(e.Name), 0o755)
	if err == nil {
		err = root.Symlink(e.Path, e.Name)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

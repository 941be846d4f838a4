package closure

import (
	"errors"
	"io/fs"
	"os"

	"muster/regress/internal/filedigest"
	"muster/regress/internal/filestamp"
)

// Difference says how a path differs from a closure.
type Difference string

// The differences, a closed set.
const (
	ContentChanged Difference = "its content changed"
	Gone           Difference = "it is gone"
	Appeared       Difference = "it appeared, and the tool looks for it"
	NamesChanged   Difference = "the names in it changed"
)

// Change is a path that differs from a closure.
type Change struct {
	Path string
	How  Difference
}

// Changes returns what differs from the closure now, in the order of its lists. It reads a file only
// if its stamp changed, so it takes some microseconds for each path. An error is that of the machine.
func (c *Closure) Changes(digests *filedigest.Cache) (list []Change, err error) {
	for i := range c.Files {
		how, err := c.Files[i].compare(digests)
		if err != nil {
			return nil, err
		}
		if how != "" {
			list = append(list, Change{c.Files[i].Path, how})
		}
	}
	for _, path := range c.Absent {
		if stateOf(path, false) != "absent" {
			list = append(list, Change{path, Appeared})
		}
	}
	for _, f := range c.Folders {
		switch names, err := namesIn(f.Path); {
		case errors.Is(err, fs.ErrNotExist), isNotFolder(err):
			list = append(list, Change{f.Path, Gone})
		case err != nil:
			return nil, err
		case names != f.Names:
			list = append(list, Change{f.Path, NamesChanged})
		}
	}
	return list, nil
}

// compare returns how a file differs, or "".
func (f *File) compare(digests *filedigest.Cache) (Difference, error) {
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotFolder(err):
		return Gone, nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return ContentChanged, nil
	case filestamp.Of(info) == f.Stamp:
		return "", nil
	}
	switch digest, err := digests.Of(f.Path, fileBytesMax); {
	case errors.Is(err, filedigest.ErrTooLarge):
		return ContentChanged, nil
	case err != nil:
		return "", err
	case digest.Hash != f.Digest:
		return ContentChanged, nil
	}
	return "", nil
}

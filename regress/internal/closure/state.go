package closure

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"muster/regress/internal/filestamp"
	"muster/regress/internal/outcome"
)

// The states of places that are compared by name. The state of a file is its stamp.
const (
	absent = "absent"
	folder = "folder"
)

// StateOf describes what is at a path, for comparison. The names in a folder count if isListed.
func (own Own) StateOf(path string, isListed bool) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return absent + linkAt(path)
	case err != nil:
		return describeError(err)
	case info.Mode().IsRegular():
		return filestamp.Of(info)
	case !info.IsDir():
		return info.Mode().Type().String() + linkAt(path)
	case !isListed:
		return folder + linkAt(path)
	}
	names, err := own.namesIn(path)
	if err != nil {
		return describeError(err)
	}
	return folder + " " + names.String() + linkAt(path)
}

// linkAt returns where a link leads, as an addition to a state.
func linkAt(path string) string {
	target, err := os.Readlink(path)
	if err != nil {
		return ""
	}
	return ", a link to " + target
}

// describeError returns the state of a path that the kernel does not show.
func describeError(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return "error: " + number.Error()
	}
	return "error"
}

// errTooMany says that a folder has more names than can be compared.
var errTooMany = errors.New("too many names")

// namesIn returns the digest of the names in a folder.
func (own Own) namesIn(path string) (d outcome.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	names, err := f.Readdirnames(namesMax + 1)
	if len(names) > namesMax {
		return d, errTooMany
	}
	if err != nil && len(names) > 0 {
		return d, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return own[filepath.Join(path, name)] })
	slices.Sort(names)
	return outcome.Of([]byte(strings.Join(names, "\x00"))), nil
}

// isMarkedOnly reports whether two states of a file differ at most in the time of the last change of
// the inode, which also a change of the mode sets.
func isMarkedOnly(was, now string) bool {
	a, b := strings.Split(was, ", "), strings.Split(now, ", ")
	const changeTime = 2 // the field of package filestamp
	if !isFileState(was) || len(a) <= changeTime || len(a) != len(b) {
		return false
	}
	a[changeTime] = b[changeTime]
	return slices.Equal(a, b)
}

// isFileState reports whether a state is that of a file.
func isFileState(state string) bool { return strings.Contains(state, " bytes, ") }

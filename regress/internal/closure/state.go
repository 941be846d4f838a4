package closure

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"muster/regress/internal/filestamp"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
)

// Own is a set of paths of files and folders. They do not belong to the tool, and their names do not count in
// listed folders.
type Own map[string]bool

// has reports whether a path is one of them, or below one.
func (own Own) has(path string) bool {
	for ; len(path) > 1; path = filepath.Dir(path) {
		if own[path] {
			return true
		}
	}
	return false
}

// The states of places that are compared by name. The state of a file is its stamp.
const (
	absent  = "absent"
	folder  = "folder"
	unknown = "error" // the kernel does not show what is there
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
		return filestamp.At(path, info)
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

// namesOf returns the digest of the names in a listed folder from its state.
func namesOf(state string) (d outcome.Digest, isListed bool) {
	text, isListed := strings.CutPrefix(state, folder+" ")
	text, _, _ = strings.Cut(text, ",")
	return d, isListed && d.UnmarshalText([]byte(text)) == nil
}

// linkAt returns where a link leads, as an addition to a state.
func linkAt(path string) string {
	target, err := os.Readlink(strings.TrimRight(path, "/"))
	if err != nil {
		return ""
	}
	return ", a link to " + name.Print(target) // states are kept as text
}

// describeError returns the state of a path that the kernel does not show.
func describeError(err error) string {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return unknown + ": " + number.Error()
	}
	return unknown
}

// errTooMany says that a folder has more names than can be compared.
var errTooMany = errors.New("too many names")

// namesMax bounds the names of one folder.
const namesMax = 1 << 20

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

// isIn reports whether one of the paths is directly in a folder.
func (own Own) isIn(folder string) bool {
	real := func(path string) string {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			return resolved
		}
		return path
	}
	for path := range own {
		if real(filepath.Dir(path)) == real(folder) {
			return true
		}
	}
	return false
}

// sizeOf returns the size from the state of a file.
func sizeOf(state string) (n int64) {
	text, _, _ := strings.Cut(state, " ")
	n, _ = strconv.ParseInt(text, 10, 64)
	return n
}

// areAlike reports whether two states of a file differ at most in the time of the last change of the
// inode, which a change of the mode or a new link sets too.
func areAlike(was, now string) bool {
	a, b := strings.Split(was, ", "), strings.Split(now, ", ")
	const changeTime = 2 // the field of package filestamp
	if !isFileState(was) || len(a) <= changeTime || len(a) != len(b) {
		return false
	}
	a[changeTime] = b[changeTime]
	return slices.Equal(a, b)
}

// withoutContent returns a state in which all contents of a file are the same.
func withoutContent(state string) string {
	if isFileState(state) {
		return "file"
	}
	return state
}

// isFileState reports whether a state is that of a file, which begins with its size.
func isFileState(state string) bool { return state != "" && state[0] >= '0' && state[0] <= '9' }

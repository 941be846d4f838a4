package closure

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/filestamp"
	"muster/regress/internal/name"
	"muster/regress/internal/outcome"
	"muster/regress/lane/observe"
)

// use is what is known of one path.
type use struct {
	observe.Access
	state  string // what was there after the first run that used it
	varies bool   // something else was there after another run
}

// look compares what is at the path with what was there before.
func (u *use) look() {
	if u.Kind&observe.Written != 0 {
		return // the tool's own
	}
	now := stateOf(u.Path, u.Kind&observe.Listed != 0)
	u.varies = u.varies || u.state != "" && u.state != now
	u.state = now
}

// stateOf describes what is at a path, for comparison: the stamp of a file, the names in a folder.
func stateOf(path string, isListed bool) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotFolder(err):
		return "absent"
	case err != nil:
		return "error"
	case info.Mode().IsRegular():
		return filestamp.Of(info)
	case info.IsDir() && isListed:
		names, err := namesIn(path)
		if err != nil {
			return "error"
		}
		return names.String()
	}
	return info.Mode().Type().String()
}

// namesIn returns the digest of the names in a folder.
func namesIn(path string) (d outcome.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	names, err := f.Readdirnames(namesMax + 1)
	if len(names) > namesMax {
		return d, fault.Inputf("%s, which the tool lists, has more than %s names: leave it out by --no-tool-file", name.Print(path), readable.Number(namesMax))
	}
	if err != nil && len(names) > 0 {
		return d, err
	}
	slices.Sort(names)
	return outcome.Of([]byte(strings.Join(names, "\x00"))), nil
}

// isNotFolder reports whether a path leads through something that is not a folder.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

package fileio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"muster/pool"
)

// ListMax is the largest number of files that one call of List returns.
const ListMax = 1000

// List returns the files whose names begin with prefix and follow after, in order, at most
// most of them. more reports whether further files follow. The time depends only on the listed
// files, not on how many others exist. The list may or may not include files that are put or
// deleted meanwhile.
func (s *Store) List(ctx context.Context, prefix, after string, most int) (infos []Info, more bool, err error) {
	if most < 1 || most > ListMax {
		return nil, false, fmt.Errorf("a list of %d files is not possible: use 1 to %d", most, ListMax)
	}
	for {
		names := s.index.namesAfter(prefix, after, most+1)
		if more = len(names) > most; more {
			names = names[:most]
		}
		infos, err = s.statAll(ctx, names)
		if err != nil || len(infos) > 0 || !more {
			return infos, more && err == nil, err
		}
		after = names[most-1] // all of these files were deleted meanwhile
	}
}

// statAll describes the named files. It leaves out files that are gone meanwhile and entries
// that are not regular files.
func (s *Store) statAll(ctx context.Context, names []string) (infos []Info, err error) {
	all := make([]Info, len(names))
	numbers := make([]int, len(names))
	for i := range numbers {
		numbers[i] = i
	}
	err = pool.ForEach(ctx, folderWorkers, numbers, func(ctx context.Context, i int) error {
		e, err := s.statInTurn(ctx, placeOf(names[i]))
		switch {
		case err == nil:
			all[i] = infoOf(names[i], e)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EINVAL):
			return operationError("list", names[i], err)
		}
		return nil
	})
	return slices.DeleteFunc(all, func(i Info) bool { return i.Name == "" }), err
}

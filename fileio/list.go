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

// ListMax is how many files one call of List returns at most.
const ListMax = 1000

// List returns the files whose names begin with prefix and come after another name, in
// order: most files, or fewer if there are no more. more reports that there are more. The
// call takes as long as the listed files take, however many others there are. Files that are
// put or deleted meanwhile may be among them or not.
func (s *Store) List(ctx context.Context, prefix, after string, most int) (infos []Info, more bool, err error) {
	if most < 1 || most > ListMax {
		return nil, false, fmt.Errorf("a list of %d files: from 1 to %d are possible", most, ListMax)
	}
	for {
		names := s.index.after(prefix, after, most+1)
		if more = len(names) > most; more {
			names = names[:most]
		}
		infos, err = s.statAll(ctx, names)
		if err != nil || len(infos) > 0 || !more {
			return infos, more && err == nil, err
		}
		after = names[most-1] // all of these were deleted meanwhile
	}
}

// statAll leaves out what is gone meanwhile, and what is no file.
func (s *Store) statAll(ctx context.Context, names []string) (infos []Info, err error) {
	all := make([]Info, len(names))
	numbers := make([]int, len(names))
	for i := range numbers {
		numbers[i] = i
	}
	err = pool.ForEach(ctx, openAtOnce, numbers, func(ctx context.Context, i int) error {
		e, err := s.statFor(ctx, placeOf(names[i]))
		switch {
		case err == nil:
			all[i] = infoOf(names[i], e)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EINVAL):
			return failed("list", names[i], err)
		}
		return nil
	})
	return slices.DeleteFunc(all, func(i Info) bool { return i.Name == "" }), err
}

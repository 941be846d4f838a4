package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// RenameOptions says where files are renamed to.
type RenameOptions struct {
	Dir     string // an empty folder, which is left as it was
	Files   int
	Folders int // that the files go to in turn; 1 = all into one
}

// So many files are made, and then renamed, at a time: the folder that they come from
// stays small, and only those that they go to grow.
const renamePortion = 1_000

// Rename measures what it takes to rename files, which are empty, into one folder or into
// several. Only the renaming is in its cost.
func Rename(ctx context.Context, o RenameOptions) (Cost, error) {
	if o.Files < 1 || o.Folders < 1 {
		return Cost{}, errors.New("files and folders must be 1 or more")
	}
	if err := mustBeEmpty(o.Dir); err != nil {
		return Cost{}, err
	}
	cost, err := renameAll(ctx, o)
	return cost, errors.Join(err, empty(o.Dir))
}

func renameAll(ctx context.Context, o RenameOptions) (all Cost, err error) {
	from := filepath.Join(o.Dir, "new")
	folders := make([]string, o.Folders)
	for i := range folders {
		folders[i] = filepath.Join(o.Dir, fmt.Sprintf("%04d", i))
	}
	for _, dir := range append(folders, from) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return all, err
		}
	}
	for first := 0; first < o.Files; first += renamePortion {
		if ctx.Err() != nil {
			return all, context.Cause(ctx)
		}
		n := min(renamePortion, o.Files-first)
		old, renamed := make([]string, n), make([]string, n)
		for i := range n {
			name := fmt.Sprintf("%08d", first+i)
			old[i], renamed[i] = filepath.Join(from, name), filepath.Join(folders[(first+i)%o.Folders], name)
			if err := os.WriteFile(old[i], nil, 0o600); err != nil {
				return all, err
			}
		}
		cost := measure(n, func(n int) {
			for i := 0; i < n && err == nil; i++ {
				err = os.Rename(old[i], renamed[i])
			}
		})
		if err != nil {
			return all, err
		}
		all = all.plus(cost)
	}
	return all, nil
}

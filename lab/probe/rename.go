package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// RenameOptions configures [Rename].
type RenameOptions struct {
	Dir     string // an empty folder; it is empty again afterwards
	Files   int
	Folders int // target folders, used in turn
}

// renamePortion is the number of files that are created, and then renamed, at a time. The
// source folder stays small, and only the target folders grow.
const renamePortion = 1_000

// Rename measures the renaming of empty files into one or several folders. The cost excludes
// their creation.
func Rename(ctx context.Context, o RenameOptions) (Cost, error) {
	if o.Files < 1 || o.Folders < 1 {
		return Cost{}, errors.New("files and folders must be 1 or more")
	}
	if err := requireEmpty(o.Dir); err != nil {
		return Cost{}, err
	}
	cost, err := renameAll(ctx, o)
	return cost, errors.Join(err, removeContents(o.Dir))
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
		all = all.add(cost)
	}
	return all, nil
}

package fileio

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"muster/pool"
)

// ListMax is how many files one call of List returns at most.
const ListMax = 1000

// List returns the files whose names begin with prefix and come after another name, in
// order, most of them at most, and whether there are more. It looks through all names and
// keeps no more than it returns. Files that are put or deleted meanwhile may be among them
// or not.
func (s *Store) List(ctx context.Context, prefix, after string, most int) (infos []Info, more bool, err error) {
	if most < 1 || most > ListMax {
		return nil, false, fmt.Errorf("a list of %d files: from 1 to %d are possible", most, ListMax)
	}
	for {
		infos, last, err := s.listSome(ctx, prefix, after, most)
		if err != nil || len(infos) > 0 || last == "" {
			return infos, last != "", err
		}
		after = last // none of these is a file any longer
	}
}

// listSome is List, and returns the last name that it looked at if there are more.
func (s *Store) listSome(ctx context.Context, prefix, after string, most int) (infos []Info, last string, err error) {
	names := leastNames{most: most + 1}
	for i := range s.folders {
		j := Job{Op: OpList, Folder: s.descriptor(i)}
		if err := s.engine.Do(ctx, &j); err != nil {
			return nil, "", failed("list", prefix, err)
		}
		for _, encoded := range j.Names {
			if strings.HasPrefix(encoded, tempPrefix) {
				continue
			}
			// What is not ours to read is nobody's file.
			if name, ok := decode(encoded); ok && strings.HasPrefix(name, prefix) && name > after {
				names.add(name)
			}
		}
	}
	slices.Sort(names.kept)
	if len(names.kept) > most {
		names.kept = names.kept[:most]
		last = names.kept[most-1]
	}
	infos, err = s.statAll(ctx, names.kept)
	return infos, last, err
}

// statAll leaves out what is gone meanwhile, and what is no file.
func (s *Store) statAll(ctx context.Context, names []string) (infos []Info, err error) {
	all := make([]Info, len(names))
	numbers := make([]int, len(names))
	for i := range numbers {
		numbers[i] = i
	}
	err = pool.ForEach(ctx, openAtOnce, numbers, func(ctx context.Context, i int) error {
		e, err := s.stat(ctx, placeOf(names[i]), false)
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

// leastNames keeps the least of the names that are added: the greatest of them is first.
type leastNames struct {
	kept []string
	most int
}

func (l *leastNames) add(name string) {
	switch {
	case len(l.kept) < l.most:
		heap.Push(l, name)
	case name < l.kept[0]:
		l.kept[0] = name
		heap.Fix(l, 0)
	}
}

func (l *leastNames) Len() int           { return len(l.kept) }
func (l *leastNames) Less(i, k int) bool { return l.kept[i] > l.kept[k] }
func (l *leastNames) Swap(i, k int)      { l.kept[i], l.kept[k] = l.kept[k], l.kept[i] }
func (l *leastNames) Push(name any)      { l.kept = append(l.kept, name.(string)) }
func (l *leastNames) Pop() any {
	last := l.kept[len(l.kept)-1]
	l.kept = l.kept[:len(l.kept)-1]
	return last
}

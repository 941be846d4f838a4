package tool

import (
	"cmp"
	"os"
	"slices"

	"muster/regress/internal/outcome"
)

// KnownFile is a file of an earlier identity.
type KnownFile struct {
	Path   string
	Digest outcome.Digest
}

// ChangedSince returns the paths of files that changed since an earlier identity: files with
// other content, new files, and at the end files that are gone. A file that only moved did
// not change.
func (id *Identity) ChangedSince(earlier []KnownFile) (paths []string) {
	if id == nil || len(earlier) == 0 {
		return nil // there is nothing to compare
	}
	had, have := map[outcome.Digest]bool{}, map[string]bool{}
	at := map[string]outcome.Digest{}
	for _, k := range earlier {
		had[k.Digest], at[k.Path] = true, k.Digest
	}
	for _, f := range id.byRole() {
		have[f.Path] = true
		if was, known := at[f.Path]; known && was != f.Digest || !known && !had[f.Digest] {
			paths = append(paths, f.Path)
		}
	}
	for _, k := range earlier {
		if have[k.Path] {
			continue
		}
		if _, err := os.Stat(k.Path); err != nil && !slices.ContainsFunc(id.files, func(f File) bool { return f.Digest == k.Digest }) {
			paths = append(paths, k.Path)
		}
	}
	return paths
}

// byRole returns the files, executables first: a changed executable matters more to the user
// than a changed library.
func (id *Identity) byRole() []File {
	rank := []Role{Executable, Word, Given, Interpreter, Loader, Library}
	list := slices.Clone(id.files)
	slices.SortStableFunc(list, func(a, b File) int { return cmp.Compare(slices.Index(rank, a.Role), slices.Index(rank, b.Role)) })
	return list
}

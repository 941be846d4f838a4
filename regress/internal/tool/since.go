package tool

import (
	"os"
	"slices"

	"muster/regress/internal/outcome"
)

// Known is a file of an earlier identity.
type Known struct {
	Path   string
	Digest outcome.Digest
}

// ChangedSince returns the paths of files that are not what they were in an earlier identity:
// files with other content, new files, and files that are gone. A file that only moved is the
// same.
func (id *Identity) ChangedSince(earlier []Known) (paths []string) {
	if id == nil || len(earlier) == 0 {
		return nil // nothing is known
	}
	had, have := map[outcome.Digest]bool{}, map[string]bool{}
	at := map[string]outcome.Digest{}
	for _, k := range earlier {
		had[k.Digest], at[k.Path] = true, k.Digest
	}
	for f := range id.Files() {
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
	slices.Sort(paths)
	return paths
}

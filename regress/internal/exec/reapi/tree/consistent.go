package tree

import (
	"fmt"
	"path"

	"muster/regress/internal/outcome"
)

// consistent refuses what no folder can hold: two entries with one name, or an entry below a
// file.
func consistent(left []Output) error {
	files := make(map[string]bool, len(left))
	for i := range left {
		l := &left[i]
		if i > 0 && left[i-1].Path == l.Path {
			return fmt.Errorf("%q is there twice, and not the same", l.Path)
		}
		files[l.Path] = l.Form != outcome.Gone
	}
	for i := range left {
		for at := path.Dir(left[i].Path); left[i].Form != outcome.Gone && at != "."; at = path.Dir(at) {
			if files[at] {
				return fmt.Errorf("%q is there, and below it %q", at, left[i].Path)
			}
		}
	}
	return nil
}

func same(a, b outcome.Part) bool {
	return a.Form == b.Form && a.Exec == b.Exec && a.Size == b.Size && a.Digest == b.Digest
}

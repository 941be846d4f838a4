package closure

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"muster/regress/internal/filedigest"
	"muster/regress/internal/outcome"
)

// KnownFile is a file of an earlier closure.
type KnownFile struct {
	Path   string
	Role   Role
	Digest outcome.Digest
}

// ChangedSince returns the paths of files that changed since an earlier closure: files with other
// content, files of the command that are new, and at the end files that are gone. A file that only
// moved did not change. same is the number of earlier files that did not change.
//
// Runs of other cases use other files, so what only the observation found says nothing by being new.
func (c *Closure) ChangedSince(earlier []KnownFile, digests *filedigest.Cache) (paths []string, same int) {
	if c == nil || len(earlier) == 0 {
		return nil, 0 // there is nothing to compare
	}
	at, here := map[string]outcome.Digest{}, map[string]bool{}
	for _, k := range earlier {
		at[k.Path] = k.Digest
	}
	movedTo, movedFrom := map[outcome.Digest]bool{}, map[outcome.Digest]bool{}
	for _, f := range c.Files {
		here[f.Path] = true
		if _, known := at[f.Path]; !known {
			movedTo[f.Digest] = true
		}
	}
	for _, k := range earlier {
		if !here[k.Path] {
			movedFrom[k.Digest] = true
		}
	}
	for _, f := range c.byRole() {
		was, known := at[f.Path]
		isNew := !known && !movedFrom[f.Digest] && (f.Role == Executable || f.Role == Word || f.Role == Given)
		if known && was != f.Digest || isNew {
			paths = append(paths, f.Path)
		}
	}
	var gone []string
	for _, k := range earlier {
		if here[k.Path] {
			continue
		}
		switch digest, err := digests.Of(k.Path, fileBytesMax); {
		case errors.Is(err, fs.ErrNotExist) && !movedTo[k.Digest]:
			gone = append(gone, k.Path)
		case err == nil && digest.Hash != k.Digest:
			paths = append(paths, k.Path)
		}
	}
	all := append(paths, gone...)
	return all, len(earlier) - len(slices.DeleteFunc(slices.Clone(all), func(path string) bool { _, known := at[path]; return !known }))
}

// byRole returns the files, executables first: a changed executable matters more to the user than
// a changed library.
func (c *Closure) byRole() []File {
	list := slices.Clone(c.Files)
	slices.SortStableFunc(list, func(a, b File) int { return cmp.Compare(slices.Index(Roles(), a.Role), slices.Index(Roles(), b.Role)) })
	return list
}

// Restore returns the files and places of an earlier closure as they are now. A file that is gone
// is left out.
func Restore(files []File, places []Place, own Own, digests *filedigest.Cache) *Closure {
	c := &Closure{Own: own}
	for _, f := range files {
		digest, err := digests.Of(f.Path, fileBytesMax)
		if err != nil {
			continue
		}
		f.Digest, f.Stamp = digest.Hash, digest.Stamp
		c.Files = append(c.Files, f)
	}
	for _, p := range places {
		p.State = own.StateOf(p.Path, p.IsListed)
		c.Places = append(c.Places, p)
	}
	c.Sort()
	return c
}

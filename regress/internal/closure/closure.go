// Package closure knows the files that make a tool what it is: those that it executes, opens or asks
// for, paths that it asks for in vain, and folders that it lists.
//
// Input: observations of package observe (Gatherer.Add), or the lists of an earlier closure. Output: a
// Closure with digests, and later what differs from it on this machine (Closure.Watch). The package
// must not run anything, nor decide what a change means.
package closure

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"syscall"

	"muster/regress/internal/filedigest"
	"muster/regress/internal/outcome"
)

// Role is the reason why a file belongs to a tool.
type Role string

// The roles, a closed set, in the order in which a change matters to people.
const (
	Executable Role = "executable" // a command runs it
	Word       Role = "word"       // a word of a command names it
	Given      Role = "given"      // by --tool-file
	Program    Role = "program"    // a process of the tool executes it
	Opened     Role = "opened"     // or asked for
	Absent     Role = "absent"     // no file, or none that the tool may see: it looks for it in vain
	Listed     Role = "listed"     // a folder: the tool reads its names
	Folder     Role = "folder"     // the tool asks only whether it is there
)

// Roles returns all roles, in their order.
func Roles() []Role {
	return []Role{Executable, Word, Given, Program, Opened, Absent, Listed, Folder}
}

// File is a file of a closure.
type File struct {
	Path   string // absolute, before links are resolved
	Role   Role   // the first of its roles that was found
	Digest outcome.Digest
	Stamp  string // of package filestamp, with the mount
	// IsTrusted says that the file has this content as long as it has this stamp.
	IsTrusted bool
}

// Place is a path that the tool looked at and that is no regular file: nothing is there, or a folder, or a
// folder whose names count.
type Place struct {
	Path  string
	State string // of StateOf
	// IsListed says that the names in a folder belong to its state.
	IsListed bool
	// IsWritten says that the tool only makes, writes or removes it. Only the kind of thing there decides whether
	// that succeeds. While cases run, it comes and goes.
	IsWritten bool
}

// Closure is what a tool uses. It does not change, and any number of goroutines may use it. A nil
// Closure has no file.
type Closure struct {
	Files   []File   // by path
	Places  []Place  // by path
	Varying []string // paths that are left out, sorted: they changed between two observed runs
	// Own are paths of muster itself, which come and go in listed folders.
	Own Own
}

// Sort brings the lists into their order.
func (c *Closure) Sort() {
	slices.SortFunc(c.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(c.Places, func(a, b Place) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(c.Varying)
}

// All yields the files by path.
func (c *Closure) All() iter.Seq[File] {
	if c == nil {
		return func(func(File) bool) {}
	}
	return slices.Values(c.Files)
}

func (c *Closure) places() []Place {
	if c == nil {
		return nil
	}
	return c.Places
}

// Digest returns the digest of a file by its path, zero for a file that does not belong to the tool.
func (c *Closure) Digest(path string) outcome.Digest {
	for f := range c.All() {
		if f.Path == path {
			return f.Digest
		}
	}
	return outcome.Digest{}
}

// With returns a closure that has the files and places of another one too. Where both know a path, that
// of c counts, with the role that comes first, and with its names if either lists them.
func (c *Closure) With(other *Closure) *Closure {
	if c == nil {
		return other
	}
	files, places := map[string]int{}, map[string]int{}
	for i, f := range c.Files {
		files[f.Path] = i
	}
	for i, p := range c.Places {
		places[p.Path] = i
	}
	sum := &Closure{slices.Clone(c.Files), slices.Clone(c.Places), slices.Clone(c.Varying), other.Own}
	for _, f := range other.Files {
		if i, known := files[f.Path]; !known {
			files[f.Path] = len(sum.Files)
			sum.Files = append(sum.Files, f)
		} else if slices.Index(Roles(), f.Role) < slices.Index(Roles(), c.Files[i].Role) {
			sum.Files[i].Role = f.Role
		}
	}
	for _, p := range other.Places {
		if i, known := places[p.Path]; !known {
			sum.Places = append(sum.Places, p)
		} else if was := c.Places[i]; p.IsListed && !was.IsListed || was.IsWritten && !p.IsWritten {
			sum.Places[i] = p
		}
	}
	sum.Places = slices.DeleteFunc(sum.Places, func(p Place) bool {
		_, isFile := files[p.Path]
		return isFile && p.IsWritten
	})
	for _, path := range other.Varying {
		_, isFile := files[path]
		if _, isPlace := places[path]; !isFile && !isPlace {
			sum.Varying = append(sum.Varying, path)
		}
	}
	sum.Sort()
	sum.Varying = slices.Compact(sum.Varying)
	return sum
}

// Bounds of one closure.
const (
	pathsMax     = 65_536
	fileBytesMax = 64 << 30
	// A larger file that the tool only asks for is not read: within a run its size and times count.
	askedBytesMax = 64 << 20
)

// KnownFile is a file of an earlier closure, an Absent path, or a folder.
type KnownFile struct {
	Path   string
	Role   Role
	Digest outcome.Digest // of the names in a Listed folder; zero for an Absent path or a Folder
}

// Known lists the files by path, and then the absent paths and the folders, but for the names in those in which
// muster itself writes: another run writes other files there.
func (c *Closure) Known() (list []KnownFile) {
	for f := range c.All() {
		list = append(list, KnownFile{f.Path, f.Role, f.Digest})
	}
	for _, p := range c.places() {
		names, isListed := namesOf(p.State)
		switch {
		case p.IsWritten:
		case strings.HasPrefix(p.State, absent), strings.HasPrefix(p.State, unknown):
			list = append(list, KnownFile{Path: p.Path, Role: Absent})
		case isListed && !c.Own.isIn(p.Path):
			list = append(list, KnownFile{p.Path, Listed, names})
		case strings.HasPrefix(p.State, folder):
			list = append(list, KnownFile{Path: p.Path, Role: Folder})
		}
	}
	return list
}

// ChangedSince returns the paths of files that changed since an earlier closure: files with other
// content, or with something else in their place, files of the command that are new, then paths that were
// absent and are not, folders in which other names are listed, with a slash at the end, and last files and
// folders that are gone. A file that only moved did not change. same is the number of earlier files that did
// not change.
//
// Runs of other cases use other files, so what only the observation found says nothing by being new.
func (c *Closure) ChangedSince(earlier []KnownFile, digests *filedigest.Cache) (paths []string, same int) {
	if c == nil || len(earlier) == 0 {
		return nil, 0 // there is nothing to compare
	}
	var appeared, relisted, gone []string
	earlier = slices.DeleteFunc(slices.Clone(earlier), func(k KnownFile) bool {
		switch k.Role {
		case Absent:
			if now := c.Own.StateOf(k.Path, false); !strings.HasPrefix(now, absent) && !strings.HasPrefix(now, unknown) {
				appeared = append(appeared, k.Path)
			}
		case Listed:
			now := c.Own.StateOf(k.Path, true)
			if names, _ := namesOf(now); names != k.Digest && !strings.HasPrefix(now, unknown) && !c.Own.isIn(k.Path) {
				relisted = append(relisted, strings.TrimSuffix(k.Path, "/")+"/")
			}
		case Folder:
			if now := c.Own.StateOf(k.Path, false); !strings.HasPrefix(now, folder) && !strings.HasPrefix(now, unknown) {
				gone = append(gone, strings.TrimSuffix(k.Path, "/")+"/")
			}
		}
		return k.Role == Absent || k.Role == Listed || k.Role == Folder
	})
	at, here := map[string]outcome.Digest{}, map[string]bool{}
	for _, k := range earlier {
		at[k.Path] = k.Digest
	}
	movedTo, movedFrom := map[outcome.Digest]bool{}, map[outcome.Digest]bool{}
	for _, f := range c.Files {
		here[f.Path] = true
		if _, known := at[f.Path]; !known && f.Digest != outcome.Of(nil) { // empty files are all alike
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
		isNew := !known && !movedFrom[f.Digest] && !slices.Contains(appeared, f.Path) && (f.Role == Executable || f.Role == Word || f.Role == Given)
		if known && was != f.Digest || isNew {
			paths = append(paths, f.Path)
		}
	}
	for _, k := range earlier {
		if here[k.Path] {
			continue
		}
		digest, err := digests.Of(k.Path, fileBytesMax)
		switch isGone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR); {
		case isGone && !movedTo[k.Digest]:
			gone = append(gone, k.Path)
		case !isGone && (err != nil || digest.Hash != k.Digest):
			paths = append(paths, k.Path)
		}
	}
	all := slices.Concat(paths, appeared, relisted, gone)
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
// is left out. If ctx ends before, it returns nil.
func Restore(ctx context.Context, files []File, places []Place, own Own, digests *filedigest.Cache) *Closure {
	c := &Closure{Own: own}
	for _, f := range files {
		if ctx.Err() != nil {
			return nil
		}
		digest, err := digests.Of(f.Path, fileBytesMax)
		if err != nil {
			continue
		}
		f.Digest, f.Stamp, f.IsTrusted = digest.Hash, digest.Stamp, digest.IsTrusted
		c.Files = append(c.Files, f)
	}
	for _, p := range places {
		if ctx.Err() != nil {
			return nil
		}
		if p.State = own.StateOf(p.Path, p.IsListed); p.IsWritten {
			p.State = withoutContent(p.State)
		}
		c.Places = append(c.Places, p)
	}
	c.Sort()
	return c
}

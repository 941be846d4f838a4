package program

import (
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// Search is how one loader finds libraries. The loader of glibc looks in RPATH,
// LD_LIBRARY_PATH, RUNPATH, its cache and its default folders. The loader of musl looks in
// LD_LIBRARY_PATH, in RPATH or RUNPATH, also those of the users of a library, and in its folders.
type Search struct {
	loader      string
	musl        bool
	libraryPath []string
	cache       map[string][]string
	tuned       map[string][]string
	folders     []string
}

// NewSearch returns the search of a loader. libraryPath is LD_LIBRARY_PATH.
func NewSearch(loader string, libraryPath []string) *Search {
	if isMusl(loader) {
		return &Search{loader: loader, musl: true, libraryPath: libraryPath, folders: muslFolders(loader)}
	}
	c := readLoaderCache("/etc/ld.so.cache")
	return &Search{loader: loader, libraryPath: libraryPath, cache: c.plain, tuned: c.tuned, folders: defaultFolders(loader)}
}

func (s *Search) read(file string, by *object) (*object, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o := &object{path: file, class: f.Class, machine: f.Machine}
	if f.SectionByType(elf.SHT_DYNAMIC) == nil {
		return o, nil
	}
	needed, err := f.ImportedLibraries()
	rpath, err2 := f.DynString(elf.DT_RPATH)
	runpath, err3 := f.DynString(elf.DT_RUNPATH)
	if err := errors.Join(err, err2, err3); err != nil {
		return nil, fault.Inputf("%s is damaged: %w", name.Print(file), err)
	}
	o.needed = needed
	o.runpath = foldersIn(file, runpath)
	if len(o.runpath) == 0 {
		o.rpath = foldersIn(file, rpath)
	}
	switch {
	case s.musl:
		o.runpath, o.rpath = slices.Concat(o.runpath, o.rpath), nil
		if by != nil {
			o.runpath = append(o.runpath, by.runpath...)
		}
	case len(o.runpath) == 0 && by != nil:
		o.rpath = append(o.rpath, by.rpath...)
	}
	return o, nil
}

func (s *Search) find(o *object, wanted string) (*object, error) {
	if strings.Contains(wanted, "/") {
		return s.fits(o, wanted)
	}
	for _, dir := range slices.Concat(o.rpath, s.libraryPath, o.runpath) {
		if found, err := s.fits(o, filepath.Join(dir, wanted)); err == nil {
			return found, nil
		}
	}
	for _, file := range s.cache[wanted] {
		if found, err := s.fits(o, file); err == nil {
			return found, nil
		}
	}
	for _, dir := range s.folders {
		if found, err := s.fits(o, filepath.Join(dir, wanted)); err == nil {
			return found, nil
		}
	}
	return nil, os.ErrNotExist
}

// fits returns a library if it is there and for the same machine: others are passed over,
// as by the loader.
func (s *Search) fits(by *object, file string) (*object, error) {
	found, err := s.read(file, by)
	if err == nil && (found.class != by.class || found.machine != by.machine) {
		err = os.ErrNotExist
	}
	return found, err
}

// defaultFolders are those of glibc's loader, and the loader's own, which on Debian has the
// machine's name in it.
func defaultFolders(loader string) []string {
	list := []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	if real, err := filepath.EvalSymlinks(loader); err == nil {
		list = append([]string{filepath.Dir(real)}, list...)
	}
	return list
}

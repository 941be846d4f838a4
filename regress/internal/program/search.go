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

// Search finds libraries as one loader does. The loader of glibc searches RPATH, LD_LIBRARY_PATH,
// RUNPATH, its cache and its default folders. The loader of musl searches LD_LIBRARY_PATH, then
// RPATH or RUNPATH, also those of a library's users, and then its folders.
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
		return s.openMatching(o, wanted)
	}
	for _, dir := range slices.Concat(o.rpath, s.libraryPath, o.runpath) {
		if found, err := s.openMatching(o, filepath.Join(dir, wanted)); err == nil {
			return found, nil
		}
	}
	for _, file := range s.cache[wanted] {
		if found, err := s.openMatching(o, file); err == nil {
			return found, nil
		}
	}
	for _, dir := range s.folders {
		if found, err := s.openMatching(o, filepath.Join(dir, wanted)); err == nil {
			return found, nil
		}
	}
	return nil, os.ErrNotExist
}

// openMatching returns a library if it exists and is for the same machine. The loader skips others too.
func (s *Search) openMatching(by *object, file string) (*object, error) {
	found, err := s.read(file, by)
	if err == nil && (found.class != by.class || found.machine != by.machine) {
		err = os.ErrNotExist
	}
	return found, err
}

// defaultFolders returns the folders of glibc's loader, and the loader's own, which has the
// machine's name on Debian.
func defaultFolders(loader string) []string {
	list := []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	if real, err := filepath.EvalSymlinks(loader); err == nil {
		list = append([]string{filepath.Dir(real)}, list...)
	}
	return list
}

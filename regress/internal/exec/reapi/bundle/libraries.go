package bundle

import (
	"debug/elf"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// object is a program or library, and where what it needs is looked for.
type object struct {
	path    string // absolute
	needed  []string
	rpath   []string // its own and those of who needed it; only of objects without runpath
	runpath []string
	class   elf.Class
	machine elf.Machine
}

// libraries notes what a program needs, and what that needs, under the names by which it is
// asked for. Where they are found is as the loader has it: RPATH, LD_LIBRARY_PATH, RUNPATH,
// the loader's cache, its default folders.
func (m *making) libraries(program, loader string) error {
	first, err := readObject(program, nil)
	if err != nil {
		return err
	}
	s := search{libraryPath: m.o.Library, cache: readCache("/etc/ld.so.cache"), folders: defaultFolders(loader)}
	own := filepath.Base(loader)
	m.libs[own] = loader
	for queue := []*object{first}; len(queue) > 0; queue = queue[1:] {
		o := queue[0]
		for _, wanted := range o.needed {
			base := path.Base(wanted)
			if m.libs[base] != "" {
				continue
			}
			found, err := s.find(o, wanted)
			if err != nil {
				return fault.Inputf("%s cannot be bundled: the library %s that %s needs is not found; name its folder by --env LD_LIBRARY_PATH=…", name.Print(program), name.Print(wanted), name.Print(o.path))
			}
			m.libs[base] = found.path
			queue = append(queue, found)
		}
	}
	return nil
}

// placeLibraries lets the libraries of all programs travel, each once.
func (m *making) placeLibraries() error {
	for _, base := range slices.Sorted(maps.Keys(m.libs)) {
		source, err := filepath.EvalSymlinks(m.libs[base])
		if err != nil {
			return unreadable(m.libs[base], err)
		}
		if err := m.add(item{path: path.Join(libFolder, base), source: source, exec: true}); err != nil {
			return err
		}
	}
	return nil
}

func readObject(file string, by *object) (*object, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, unreadable(file, err)
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
	if o.runpath = folders(file, runpath); len(o.runpath) == 0 {
		o.rpath = folders(file, rpath)
		if by != nil {
			o.rpath = append(o.rpath, by.rpath...)
		}
	}
	return o, nil
}

// folders splits a list of an object's, in which $ORIGIN is the object's own folder.
func folders(file string, lists []string) (list []string) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		real = file
	}
	origin := filepath.Dir(real)
	for _, text := range lists {
		for dir := range strings.SplitSeq(text, ":") {
			dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin, "$LIB", "lib", "${LIB}", "lib").Replace(dir)
			if filepath.IsAbs(dir) { // else it would be below whatever folder we are in
				list = append(list, filepath.Clean(dir))
			}
		}
	}
	return list
}

// search is where libraries are looked for, whoever needs them.
type search struct {
	libraryPath []string
	cache       map[string][]string
	folders     []string
}

func (s *search) find(o *object, wanted string) (*object, error) {
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
func (s *search) fits(by *object, file string) (*object, error) {
	found, err := readObject(file, by)
	if err == nil && (found.class != by.class || found.machine != by.machine) {
		err = os.ErrNotExist
	}
	return found, err
}

// defaultFolders are those of the loaders of glibc and musl, and the loader's own, which on
// Debian has the machine's name in it.
func defaultFolders(loader string) []string {
	list := []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}
	if real, err := filepath.EvalSymlinks(loader); err == nil {
		list = append([]string{filepath.Dir(real)}, list...)
	}
	return list
}

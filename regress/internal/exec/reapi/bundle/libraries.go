package bundle

import (
	"debug/elf"
	"maps"
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
	rpath   []string // its own and those of who needed it, before LD_LIBRARY_PATH; of glibc only of objects without runpath
	runpath []string // after it
	class   elf.Class
	machine elf.Machine
}

// libraries notes what a program needs, and what that needs, under the names by which it is
// asked for.
func (m *making) libraries(program, loader string) error {
	s := searchOf(loader, m.o.Library)
	first, err := s.read(program, nil)
	if err != nil {
		return err
	}
	own := filepath.Base(loader)
	m.libs[own] = loader
	for queue := []*object{first}; len(queue) > 0; queue = queue[1:] {
		o := queue[0]
		for _, wanted := range o.needed {
			base := path.Base(wanted)
			if m.libs[base] != "" || s.musl && inMusl(wanted) {
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

// foldersIn splits a list of an object's, in which $ORIGIN is the object's own folder.
func foldersIn(file string, lists []string) (list []string) {
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

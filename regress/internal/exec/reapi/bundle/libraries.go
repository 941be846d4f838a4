package bundle

import (
	"maps"
	"path"
	"path/filepath"
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/internal/program"
)

// libraries adds the libraries of a program. The first program that needs a library decides
// which file it is.
func (m *making) libraries(file, loader string) error {
	found, err := program.NewSearch(loader, m.o.Library).Libraries(file)
	if err != nil {
		return unreadable(file, err)
	}
	for _, none := range found.Missing {
		if m.libs[path.Base(none.Library)] == "" {
			return fault.Inputf("%s cannot be bundled: the library %s that %s needs is not found; name its folder by --env LD_LIBRARY_PATH=…", name.Print(file), name.Print(none.Library), name.Print(none.By))
		}
	}
	for base, library := range found.Paths {
		if m.libs[base] == "" {
			m.libs[base] = library
		}
	}
	return nil
}

// placeLibraries lays out the libraries of all programs, each once.
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

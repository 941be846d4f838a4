package bundle

import (
	"context"
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
func (m *making) libraries(ctx context.Context, file, loader string) error {
	found, err := program.Loader{Path: loader, Folders: m.o.Library, Plain: true}.Libraries(ctx, file)
	if err != nil {
		return fault.Inputf("%s cannot be bundled: its loader %s does not list its libraries: %w", name.Print(file), name.Print(loader), fault.Reason(err))
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

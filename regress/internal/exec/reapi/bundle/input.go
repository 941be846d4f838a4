package bundle

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// input adds a path of the user's: a file, or a folder with everything below it.
func (m *making) input(ctx context.Context, given string) error {
	root, err := filepath.Abs(given)
	if err != nil {
		return unreadable(given, err)
	}
	info, err := os.Stat(root)
	switch {
	case nowhere(err):
		return fault.Inputf("--remote-input %s: there is no such file, or it is a link that leads nowhere", name.Print(given))
	case err != nil:
		return unreadable(given, err)
	case filepath.Dir(root) == root:
		return fault.Inputf("--remote-input %s is the whole file system; name what the command needs", name.Print(given))
	}
	at := path.Join(inputFolder, filepath.Base(root))
	if slices.ContainsFunc(m.moves, func(had move) bool { return had.to == above+at && had.from != root }) {
		return fault.Inputf("--remote-input %s: another of that name travels already; rename one", name.Print(given))
	}
	m.moves = append(m.moves, move{root, above + at})
	if given = filepath.Clean(given); given != root {
		m.moves = append(m.moves, move{given, above + at}, move{"./" + given, above + at})
	}
	if info.Mode().IsRegular() {
		return m.add(item{path: at, source: root, exec: info.Mode()&0o100 != 0})
	}
	if !info.IsDir() {
		return fault.Inputf("--remote-input %s is neither a file nor a folder", name.Print(given))
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return unreadable(given, err)
	}
	w := walking{making: m, ctx: ctx, root: root, at: at}
	if err := w.folder(""); err != nil {
		return err
	}
	w.noteOmissions(given)
	return nil
}

// nowhere reports whether an error is about the path itself, and not about what is there.
func nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

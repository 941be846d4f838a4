package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
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
		return fault.Inputf("[engine] input %s: there is no such file, or it is a link that leads nowhere", name.Print(given))
	case err != nil:
		return unreadable(given, err)
	case filepath.Dir(root) == root:
		return fault.Inputf("[engine] input %s is the whole file system; name what the command needs", name.Print(given))
	}
	at := path.Join(inputFolder, filepath.Base(root))
	if slices.ContainsFunc(m.moves, func(had move) bool { return had.to == above+at && had.from != root }) {
		return fault.Inputf("[engine] input %s: another of that name travels already; rename one", name.Print(given))
	}
	m.moves = append(m.moves, move{root, above + at})
	if given = filepath.Clean(given); given != root {
		m.moves = append(m.moves, move{given, above + at}, move{"./" + given, above + at})
	}
	if info.Mode().IsRegular() {
		return m.add(item{path: at, source: root, exec: info.Mode()&0o100 != 0})
	}
	if !info.IsDir() {
		return fault.Inputf("[engine] input %s is neither a file nor a folder", name.Print(given))
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

// walking walks through one folder.
type walking struct {
	*making
	ctx     context.Context
	root    string // real path of the folder
	at      string // its place on a worker
	copied  int    // links to files outside
	left    int    // dangling links, sockets and the like
	example string
}

func (w *walking) folder(below string) error {
	if err := w.ctx.Err(); err != nil {
		return fault.Interruptedf("%w", err)
	}
	entries, err := os.ReadDir(filepath.Join(w.root, below))
	if err != nil {
		return unreadable(filepath.Join(w.root, below), err)
	}
	if len(entries) == 0 {
		w.empty = append(w.empty, path.Join(w.at, below))
	}
	for _, e := range entries {
		if w.stays[filepath.Join(w.root, below, e.Name())] {
			continue
		}
		if err := w.entry(path.Join(below, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walking) entry(below string, e fs.DirEntry) error {
	switch {
	case e.IsDir():
		return w.folder(below)
	case e.Type()&fs.ModeSymlink != 0:
		return w.link(below)
	case !e.Type().IsRegular():
		w.leaveOut(below)
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return unreadable(filepath.Join(w.root, below), err)
	}
	return w.add(item{path: path.Join(w.at, below), source: filepath.Join(w.root, below), exec: info.Mode()&0o100 != 0})
}

// link keeps a link that stays inside, and makes it lead directly to its final target. It
// replaces a link to a file elsewhere by that file.
func (w *walking) link(below string) error {
	source := filepath.Join(w.root, below)
	if _, err := os.Stat(source); nowhere(err) {
		w.leaveOut(below)
		return nil // it dangles on the worker too
	}
	real, err := filepath.EvalSymlinks(source)
	if err != nil {
		return unreadable(source, err)
	}
	if inner, err := filepath.Rel(w.root, real); err == nil && inner != ".." && !strings.HasPrefix(inner, "../") {
		target, err := filepath.Rel(filepath.Join(w.root, filepath.Dir(below)), real)
		if err != nil {
			return unreadable(source, err)
		}
		return w.add(item{path: path.Join(w.at, below), source: source, target: target})
	}
	info, err := os.Stat(real)
	if err != nil {
		return unreadable(source, err)
	}
	if !info.Mode().IsRegular() {
		return fault.Inputf("[engine] input: %s is a link to %s, a folder outside; send that too, or leave the link out", name.Print(source), name.Print(real))
	}
	w.copied++
	return w.add(item{path: path.Join(w.at, below), source: real, exec: info.Mode()&0o100 != 0})
}

func (w *walking) leaveOut(below string) {
	if w.left++; w.left == 1 {
		w.example = below
	}
}

func (w *walking) noteOmissions(given string) {
	if w.copied > 0 {
		w.note(fmt.Sprintf("[engine] input %s: %d links lead out of it, so muster sends copies of their targets", name.Print(given), w.copied))
	}
	if w.left > 0 {
		w.note(fmt.Sprintf("[engine] input %s: %d links to nothing, sockets, pipes and devices are not sent (%s)", name.Print(given), w.left, name.Print(w.example)))
	}
}

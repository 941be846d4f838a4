package corpus

import (
	"context"
	"errors"
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

// folder opens a folder as a corpus.
func (p *opening) folder(ctx context.Context) (*Corpus, error) {
	abs, err := filepath.Abs(p.Path)
	if err != nil {
		return nil, cannotRead(p.label, "", err)
	}
	root, err := os.OpenRoot(p.Path)
	if err != nil {
		return nil, cannotRead(p.label, "", err)
	}
	w := &walk{meter: p.meter(), root: root, excluded: excludedBelow(abs, p.Exclude), tree: newTree(p.label, p.Limits)}
	if err := w.run(ctx); err != nil {
		root.Close()
		return nil, err
	}
	c, err := p.finish(&Corpus{folder: root, root: abs, stamps: w.stamps}, w.tree)
	if err != nil {
		root.Close()
	}
	return c, err
}

// walk lists a folder without following links. It is used by one goroutine.
type walk struct {
	*meter
	root     *os.Root
	excluded map[string]struct{} // paths below the root
	tree     *tree
	found    []node
	stamps   []stamp
}

func (w *walk) run(ctx context.Context) error {
	// A list of what is still to be read, not a recursion: however deep the
	// folders, one is open at a time.
	todo := []string{"."}
	for len(todo) > 0 {
		if err := done(ctx, w.label); err != nil {
			return err
		}
		dir := todo[len(todo)-1]
		below, err := w.list(dir)
		if err != nil {
			return err
		}
		todo = append(todo[:len(todo)-1], below...)
	}
	slices.SortFunc(w.found, func(a, b node) int { return strings.Compare(a.Name, b.Name) })
	for _, n := range w.found {
		w.tree.add(n)
	}
	return nil
}

// list takes in what one folder holds and returns the folders in it.
func (w *walk) list(dir string) (below []string, err error) {
	f, err := w.root.Open(dir)
	if err != nil {
		return nil, w.failed(dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, w.failed(dir, err)
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if w.leftOut(e.Name(), at) {
			continue
		}
		info, err := e.Info()
		if err == nil {
			err = w.take(at, info)
		}
		if err != nil {
			return nil, w.failed(at, err)
		}
		if info.IsDir() {
			below = append(below, at)
		}
	}
	return below, nil
}

func (w *walk) leftOut(base, at string) bool {
	_, excluded := w.excluded[at]
	return excluded || base == ".git" || base == ".muster"
}

func (w *walk) take(at string, info fs.FileInfo) error {
	clean, err := name.Clean(at)
	if err != nil {
		return fault.Inputf("%s: %s: %w; rename it or leave it out", w.label, name.Print(at), err)
	}
	n := node{Entry: Entry{Name: clean}}
	switch info.Mode().Type() {
	case fs.ModeDir:
		w.tree.addFolder(clean)
		return w.count(0, clean, "")
	case 0:
		n.Exec, n.Size, n.Path = executable(info), info.Size(), clean
		err = w.checkReadable(at, info)
	case fs.ModeSymlink:
		if n.link, err = w.root.Readlink(at); err == nil && n.link == "" {
			err = errors.New("is a link to nothing at all")
		}
	default:
		w.tree.skipped.add(clean)
		return w.count(0, clean, "")
	}
	if err != nil {
		return err
	}
	w.found = append(w.found, n)
	w.stamps = append(w.stamps, stampOf(clean, info))
	return w.count(n.Size, clean, n.link)
}

// checkReadable opens a file whose mode leaves it in doubt, so that a run does
// not fail in its midst. For most files the mode is enough.
func (w *walk) checkReadable(at string, info fs.FileInfo) error {
	if info.Mode()&0o444 == 0o444 {
		return nil
	}
	// Not blocking: it may have become a named pipe.
	f, err := w.root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func (w *walk) failed(at string, err error) error {
	var l *fs.PathError
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fault.Inputf("%s changed while it was read: %s is gone; run again when nothing writes there", w.label, name.Print(at))
	case errors.As(err, &l):
		return cannotRead(w.label, at, err)
	}
	return err
}

// excludedBelow turns paths of the caller into paths below the root; what lies
// elsewhere is left out. Both sides are resolved, since the caller may have
// come by a link.
func excludedBelow(root string, paths []string) map[string]struct{} {
	below := map[string]struct{}{}
	root = resolved(root)
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			continue
		}
		// The last part may be missing yet, or be a link that is meant itself.
		abs = filepath.Join(resolved(filepath.Dir(abs)), filepath.Base(abs))
		if rel, err := filepath.Rel(root, abs); err == nil && rel != "." && filepath.IsLocal(rel) {
			below[filepath.ToSlash(rel)] = struct{}{}
		}
	}
	return below
}

func resolved(folder string) string {
	if r, err := filepath.EvalSymlinks(folder); err == nil {
		return r
	}
	return folder
}

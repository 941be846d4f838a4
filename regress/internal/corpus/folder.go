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

// openFolder opens a folder as a corpus.
func (p *opener) openFolder(ctx context.Context) (*Corpus, error) {
	abs, err := filepath.Abs(p.Path)
	if err != nil {
		return nil, readError(p.label, "", err)
	}
	root, err := os.OpenRoot(p.Path)
	if err != nil {
		return nil, readError(p.label, "", err)
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

// A walk lists a folder without following links. Only one goroutine may use it.
type walk struct {
	*meter
	root     *os.Root
	excluded map[string]struct{} // paths below the root
	tree     *tree
	found    []node
	stamps   []stamp
}

func (w *walk) run(ctx context.Context) error {
	// A list of folders to read, not a recursion: however deep the folders are, only one is open at
	// a time.
	todo := []string{"."}
	for len(todo) > 0 {
		if err := stopError(ctx, w.label); err != nil {
			return err
		}
		dir := todo[len(todo)-1]
		below, err := w.listFolder(dir)
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

// listFolder adds the entries of one folder and returns the folders in it.
func (w *walk) listFolder(dir string) (below []string, err error) {
	f, err := w.root.Open(dir)
	if err != nil {
		return nil, w.readError(dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, w.readError(dir, err)
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if w.isExcluded(e.Name(), at) {
			continue
		}
		info, err := e.Info()
		if err == nil {
			err = w.addEntry(at, info)
		}
		if err != nil {
			return nil, w.readError(at, err)
		}
		if info.IsDir() {
			below = append(below, at)
		}
	}
	return below, nil
}

func (w *walk) isExcluded(base, at string) bool {
	_, excluded := w.excluded[at]
	return excluded || base == ".git" || base == ".muster"
}

func (w *walk) addEntry(at string, info fs.FileInfo) error {
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
		n.Exec, n.Size, n.Path = isExecutable(info), info.Size(), clean
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

// checkReadable opens a file if its mode does not prove that it is readable. So a run does not fail
// midway. The mode proves it for most files.
func (w *walk) checkReadable(at string, info fs.FileInfo) error {
	if info.Mode()&0o444 == 0o444 {
		return nil
	}
	// Not blocking: the file may have become a named pipe.
	f, err := w.root.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func (w *walk) readError(at string, err error) error {
	var l *fs.PathError
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fault.Inputf("%s changed while it was read: %s is gone; run again when nothing writes there", w.label, name.Print(at))
	case errors.As(err, &l):
		return readError(w.label, at, err)
	}
	return err
}

// excludedBelow converts the caller's paths to paths below the root, and drops paths elsewhere. It
// resolves links on both sides, because the caller may have come through a link.
func excludedBelow(root string, paths []string) map[string]struct{} {
	below := map[string]struct{}{}
	root = resolveLinks(root)
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			continue
		}
		// The last part may not exist yet, or be a link that is meant itself.
		abs = filepath.Join(resolveLinks(filepath.Dir(abs)), filepath.Base(abs))
		if rel, err := filepath.Rel(root, abs); err == nil && rel != "." && filepath.IsLocal(rel) {
			below[filepath.ToSlash(rel)] = struct{}{}
		}
	}
	return below
}

func resolveLinks(folder string) string {
	if r, err := filepath.EvalSymlinks(folder); err == nil {
		return r
	}
	return folder
}

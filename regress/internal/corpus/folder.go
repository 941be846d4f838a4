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
	found    []Entry
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
	slices.SortFunc(w.found, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
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
		if _, excluded := w.excluded[at]; excluded || e.Name() == ".git" || e.Name() == ".muster" {
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

func (w *walk) addEntry(at string, info fs.FileInfo) error {
	clean, err := name.Clean(at)
	if err != nil {
		return fault.Inputf("%s: %s: %w; rename it or leave it out", w.label, name.Print(at), err)
	}
	n, target := Entry{Name: clean}, ""
	switch info.Mode().Type() {
	case fs.ModeDir:
		w.tree.addFolder(clean)
		return w.count(0, clean, "")
	case 0:
		n.Exec, n.Size, n.Path = isExecutable(info), info.Size(), clean
	case fs.ModeSymlink:
		if target, err = w.root.Readlink(at); err == nil && target == "" {
			err = errors.New("is a link to nothing at all")
		}
		n.Path, n.IsLink = target, true
	default:
		w.tree.skipped.add(clean)
		return w.count(0, clean, "")
	}
	if err != nil {
		return err
	}
	w.found = append(w.found, n)
	w.stamps = append(w.stamps, stampOf(clean, info))
	return w.count(n.Size, clean, target)
}

func (w *walk) readError(at string, err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fault.Inputf("%s changed while it was read: %s is gone; run again when nothing writes there", w.label, name.Print(at))
	case errors.As(err, new(*fs.PathError)):
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

// hopsMax is the number of links that one path may lead through: Linux's own limit.
const hopsMax = 40

var (
	errOutside = errors.New("leads outside the corpus")
	errLoop    = errors.New("goes round in a loop, or through more than 40 other links")
)

// resolve resolves a node. A symlink to a file becomes that file's content under the
// link's name. One to a folder stays a link, directly to the folder. So no case depends on other
// links on the way, nor on what another case makes of them. keep is false for a link to nothing.
func (t *tree) resolve(n *Entry) (e Entry, keep bool, err error) {
	if !n.IsLink {
		return *n, true, nil
	}
	end, err := t.follow(n.Name, n.Path)
	if err != nil {
		return Entry{}, false, fault.Inputf("%s: entry %s, a link to %s, %w; leave it out or make it lead to a file of the corpus",
			t.label, name.Print(n.Name), name.Print(n.Path), err)
	}
	switch {
	case end.file != nil:
		e = *end.file
		e.Name = n.Name
		return e, true, nil
	case end.folder:
		return Entry{Name: n.Name, Path: relative(path.Dir(n.Name), end.path), IsLink: true}, true, nil
	}
	return Entry{}, false, nil
}

// A linkEnd is the target of a link: a file, a folder, or nothing.
type linkEnd struct {
	file   *Entry
	folder bool
	path   string // of the folder; "." is the root
}

// follow resolves a link's target as the kernel would, but within the tree: ".." after a link to a
// folder leaves that folder, not the link's.
func (t *tree) follow(from, target string) (linkEnd, error) {
	at, hops := path.Dir(from), 0
	todo, err := prependSteps(target, nil, &hops)
	if err != nil {
		return linkEnd{}, err
	}
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if at == "." {
				return linkEnd{}, errOutside
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		i, ok := t.byName[next]
		switch {
		case ok && t.nodes[i].IsLink:
			if todo, err = prependSteps(t.nodes[i].Path, todo, &hops); err != nil {
				return linkEnd{}, err
			}
		case ok && len(todo) == 0:
			return linkEnd{file: &t.nodes[i]}, nil
		case !ok && t.isFolder(next):
			at = next
		default:
			return linkEnd{}, checkMissing(next, todo)
		}
	}
	return linkEnd{folder: true, path: at}, nil
}

// prependSteps puts a link's parts before the remaining ones.
func prependSteps(link string, rest []string, hops *int) ([]string, error) {
	if link[0] == '/' {
		return nil, errOutside
	}
	if *hops++; *hops > hopsMax {
		return nil, errLoop
	}
	return append(strings.Split(link, "/"), rest...), nil
}

// checkMissing returns an error if a path would lead outside once somebody creates its missing
// part.
func checkMissing(at string, rest []string) error {
	clean := path.Join(at, strings.Join(rest, "/"))
	if clean == ".." || strings.HasPrefix(clean, "../") {
		return errOutside
	}
	return nil
}

func (t *tree) isFolder(clean string) bool {
	_, ok := t.folders[clean]
	return ok
}

// relative returns the relative path from one folder to another. Both are cleaned and below the
// same root.
func relative(from, to string) string {
	split := func(folder string) []string {
		if folder == "." {
			return nil
		}
		return strings.Split(folder, "/")
	}
	a, b := split(from), split(to)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	parts := make([]string, 0, len(a)+len(b))
	for range a {
		parts = append(parts, "..")
	}
	if parts = append(parts, b...); len(parts) == 0 {
		return "."
	}
	return strings.Join(parts, "/")
}

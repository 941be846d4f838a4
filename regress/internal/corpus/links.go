package corpus

import (
	"errors"
	"path"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// hopsMax is how many links one path may lead through: Linux's own limit.
const hopsMax = 40

var (
	errOutside = errors.New("leads outside the corpus")
	errLoop    = errors.New("goes round in a loop, or through more than 40 other links")
)

// settle turns a node into an entry. A symlink to a file becomes that file's
// content under the link's name; one to a folder stays a link, but straight to
// the folder: no case then depends on other links on the way, nor on what
// another case makes of them. Keep is false for a link to nothing.
func (t *tree) settle(n *node) (e Entry, keep bool, err error) {
	if n.link == "" {
		return n.Entry, true, nil
	}
	end, err := t.follow(n.Name, n.link)
	if err != nil {
		return Entry{}, false, fault.Inputf("%s: entry %s, a link to %s, %w; leave it out or make it lead to a file of the corpus",
			t.label, name.Print(n.Name), name.Print(n.link), err)
	}
	switch {
	case end.file != nil:
		e = end.file.Entry
		e.Name = n.Name
		return e, true, nil
	case end.folder:
		return Entry{Name: n.Name, Target: relative(path.Dir(n.Name), end.path)}, true, nil
	}
	return Entry{}, false, nil
}

// end is where a link leads: to a file, to a folder, or to nothing.
type end struct {
	file   *node
	folder bool
	path   string // of the folder; "." is the root
}

// follow walks a link's target as the kernel would, but in the tree: ".."
// after a link to a folder leaves that folder, not the link's.
func (t *tree) follow(from, target string) (end, error) {
	at, hops := path.Dir(from), 0
	todo, err := steps(target, nil, &hops)
	if err != nil {
		return end{}, err
	}
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		if part == "" || part == "." {
			continue
		}
		if part == ".." {
			if at == "." {
				return end{}, errOutside
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		i, ok := t.byName[next]
		switch {
		case ok && t.nodes.at(i).link != "":
			if todo, err = steps(t.nodes.at(i).link, todo, &hops); err != nil {
				return end{}, err
			}
		case ok && len(todo) == 0:
			return end{file: t.nodes.at(i)}, nil
		case !ok && t.isFolder(next):
			at = next
		default:
			return end{}, nothing(next, todo)
		}
	}
	return end{folder: true, path: at}, nil
}

// steps puts a link's parts before what is still to be walked.
func steps(link string, rest []string, hops *int) ([]string, error) {
	if link[0] == '/' {
		return nil, errOutside
	}
	if *hops++; *hops > hopsMax {
		return nil, errLoop
	}
	return append(strings.Split(link, "/"), rest...), nil
}

// nothing reports whether a path that ends at nothing, or goes on through a
// file, would lead outside if somebody made the missing part.
func nothing(at string, rest []string) error {
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

// relative returns the path that leads from one folder to another, both
// cleaned and below the same root.
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

package corpus

import (
	"errors"
	"path"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// hopsMax is the number of links that one path may lead through: Linux's own limit.
const hopsMax = 40

var (
	errOutside = errors.New("leads outside the corpus")
	errLoop    = errors.New("goes round in a loop, or through more than 40 other links")
)

// resolveNode turns a node into an entry. A symlink to a file becomes that file's content under the
// link's name. One to a folder stays a link, directly to the folder. So no case depends on other
// links on the way, nor on what another case makes of them. keep is false for a link to nothing.
func (t *tree) resolveNode(n *node) (e Entry, keep bool, err error) {
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

// A linkEnd is the target of a link: a file, a folder, or nothing.
type linkEnd struct {
	file   *node
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
		case ok && t.nodes.at(i).link != "":
			if todo, err = prependSteps(t.nodes.at(i).link, todo, &hops); err != nil {
				return linkEnd{}, err
			}
		case ok && len(todo) == 0:
			return linkEnd{file: t.nodes.at(i)}, nil
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

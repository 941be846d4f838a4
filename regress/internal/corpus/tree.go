package corpus

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// A tree collects the entries of a corpus, in order, until links and duplicate names can be
// resolved. It never touches a disk.
type tree struct {
	label   string
	limits  Limits
	nodes   nodes
	byName  map[string]int32 // of the nodes that count
	folders map[string]struct{}

	twice    tally // names that a later entry took over
	dangling tally // links to nothing
	skipped  tally // sockets and other special files in a folder
}

// node is one entry before links are resolved.
type node struct {
	Entry
	link string // not empty: a symlink's raw target
	gone bool   // a later entry took the name
}

func newTree(label string, limits Limits) *tree {
	return &tree{label: label, limits: limits, byName: map[string]int32{}, folders: map[string]struct{}{}}
}

// add adds a file or a symlink. Of entries with equal names the last counts, as when an archive is
// unpacked.
func (t *tree) add(n node) {
	t.drop(n.Name)
	t.byName[n.Name] = t.nodes.add(n)
}

// addFolder records a folder. It is not a case, but links may lead to it.
func (t *tree) addFolder(clean string) {
	t.drop(clean)
	t.folders[clean] = struct{}{}
}

func (t *tree) drop(clean string) {
	i, ok := t.byName[clean]
	if !ok {
		return
	}
	t.nodes.at(i).gone = true
	delete(t.byName, clean)
	t.twice.add(clean)
}

// addHardLink makes clean a second name of the current target. A later entry with the target's name
// does not change it, as when an archive is unpacked.
func (t *tree) addHardLink(clean, target string) error {
	i, ok := t.byName[target]
	if !ok {
		return fault.Inputf("%s: entry %s is a hard link to %s, which no earlier entry is; put the file before its link, or leave the link out",
			t.label, name.Print(clean), name.Print(target))
	}
	n := *t.nodes.at(i)
	n.Name = clean
	t.add(n)
	return nil
}

// entries resolves the tree: every name is unique, every link resolved.
func (t *tree) entries() ([]Entry, error) {
	if err := t.checkFolders(); err != nil {
		return nil, err
	}
	all := make([]Entry, 0, len(t.byName))
	var total int64
	for n := range t.nodes.all {
		if n.gone {
			continue
		}
		e, keep, err := t.resolveNode(n)
		if err != nil {
			return nil, err
		}
		if !keep {
			t.dangling.add(n.Name)
			continue
		}
		if total += e.Size; total > t.limits.TotalBytes {
			return nil, fault.Inputf("%s holds more than %s with all links followed, the limit, at %s; split it", t.label, readable.BinarySize(t.limits.TotalBytes), name.Print(e.Name))
		}
		all = append(all, e)
	}
	return all, nil
}

// checkFolders records the folders that names imply. It refuses a file or link that is also the
// folder of another entry.
func (t *tree) checkFolders() error {
	explicit := slices.Sorted(maps.Keys(t.folders)) // sorted, so that the same corpus gives the same error
	for _, folder := range explicit {
		if err := t.checkParents(folder); err != nil {
			return err
		}
	}
	for n := range t.nodes.all {
		if n.gone {
			continue
		}
		if err := t.checkParents(n.Name); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) checkParents(clean string) error {
	for parent := path.Dir(clean); parent != "."; parent = path.Dir(parent) {
		if i, ok := t.byName[parent]; ok {
			what := "a file"
			if t.nodes.at(i).link != "" {
				what = "a link"
			}
			return fault.Inputf("%s: entry %s is %s and also the folder of %s; rename one of them", t.label, name.Print(parent), what, name.Print(clean))
		}
		if _, ok := t.folders[parent]; ok {
			// The parents of an explicit folder are checked in its own turn.
			return nil
		}
		t.folders[parent] = struct{}{}
	}
	return nil
}

// report reports each kind of deviation once.
func (t *tree) report(note func(string)) {
	for _, c := range []struct {
		tally
		text string
	}{
		{t.twice, "of duplicate names the last entry counts"},
		{t.dangling, "links to nothing are left out"},
		{t.skipped, "sockets, pipes and devices are left out"},
	} {
		if c.count > 0 {
			note(fmt.Sprintf("%s: %s: %d (%s)", t.label, c.text, c.count, c.tally))
		}
	}
}

// A tally counts names and keeps the first few for a message.
type tally struct {
	count int
	first []string
}

func (l *tally) add(clean string) {
	l.count++
	if len(l.first) < 3 && !slices.Contains(l.first, clean) {
		l.first = append(l.first, clean)
	}
}

// String returns the first names, printable.
func (l tally) String() string {
	s := ""
	for i, clean := range l.first {
		if i > 0 {
			s += ", "
		}
		s += name.Print(clean)
	}
	if l.count > len(l.first) {
		s += ", …"
	}
	return s
}

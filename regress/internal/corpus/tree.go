package corpus

import (
	"archive/tar"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"muster/internal/readable"
	"muster/regress/internal/fault"
	"muster/regress/internal/name"
)

// A tree collects the entries of a corpus, in order, until links and duplicate names can be
// resolved. It never touches a disk.
type tree struct {
	label   string
	limits  Limits
	nodes   []Entry          // without a name: a later entry took it; the Path of a link is its raw target
	byName  map[string]int32 // of the nodes that count
	folders map[string]struct{}

	twice    tally // names that a later entry took over
	dangling tally // links to nothing
	skipped  tally // sockets and other special files in a folder
}

func newTree(label string, limits Limits) *tree {
	return &tree{label: label, limits: limits, byName: map[string]int32{}, folders: map[string]struct{}{}}
}

// add adds a file or a symlink. Of entries with equal names the last counts, as when an archive is
// unpacked.
func (t *tree) add(n Entry) {
	t.drop(n.Name)
	t.byName[n.Name] = int32(len(t.nodes))
	t.nodes = append(t.nodes, n)
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
	t.nodes[i].Name = ""
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
	n := t.nodes[i]
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
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.Name == "" {
			continue
		}
		e, keep, err := t.resolve(n)
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
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.Name == "" {
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
			if t.nodes[i].IsLink {
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

// kind is the kind of a member of an archive.
type kind uint8

const (
	aside    kind = iota // the root folder or a header for others: nothing to keep
	regular              // with content
	folder               // not a case
	symlink              // target is raw
	hardlink             // target is a cleaned name
)

// member is the part of a checked tar header that matters here.
type member struct {
	kind   kind
	name   string
	target string
	exec   bool
	size   int64 // of a regular member, else 0
	stored int64 // bytes after the header
}

// readMember checks a header. Its errors name the reason and the mend. The caller adds the names of
// the archive and the entry.
func readMember(h *tar.Header) (member, error) {
	m := member{exec: h.Mode&0o100 != 0}
	if isSparse(h) {
		return m, errors.New("is sparse, so the archive lacks parts of it; repack it with tar without -S")
	}
	var err error
	if m.kind, err = kindOfMember(h); err != nil {
		return m, err
	}
	if m.kind == regular {
		m.size = h.Size
	}
	if hasContent(h.Typeflag) {
		m.stored = h.Size
	}
	if m.kind == folder && h.Name != "" && path.Clean(h.Name) == "." {
		m.kind = aside // the root
	}
	if m.kind == aside {
		return m, nil
	}
	if m.name, err = name.Clean(h.Name); err != nil {
		return m, fmt.Errorf("%w; leave it out or rename it", err)
	}
	m.name = strings.Clone(m.name) // it may be part of a much larger record
	m.target, err = linkTarget(m.kind, h.Linkname)
	return m, err
}

func kindOfMember(h *tar.Header) (kind, error) {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont: // archive/tar makes the old NUL type TypeReg
		if !strings.HasSuffix(h.Name, "/") {
			return regular, nil
		}
		if h.Size != 0 {
			return aside, fmt.Errorf("its name ends in a slash, and it has %s of content; rename it", readable.Count(h.Size, "byte"))
		}
		return folder, nil
	case tar.TypeDir:
		return folder, nil
	case tar.TypeSymlink:
		return symlink, nil
	case tar.TypeLink:
		return hardlink, nil
	case tar.TypeXGlobalHeader:
		return aside, checkGlobal(h)
	case tar.TypeChar, tar.TypeBlock:
		return aside, errors.New("is a device, which no case can be; leave it out")
	case tar.TypeFifo:
		return aside, errors.New("is a named pipe, which no case can be; leave it out")
	}
	return aside, fmt.Errorf("has type %q, which is not known; repack it with tar --format=pax", h.Typeflag)
}

// hasContent reports whether bytes follow the header, by archive/tar's rules: for the other types
// it reads no content, whatever size they claim.
func hasContent(typeflag byte) bool {
	return !slices.Contains([]byte{tar.TypeLink, tar.TypeSymlink, tar.TypeChar, tar.TypeBlock, tar.TypeDir, tar.TypeFifo}, typeflag)
}

func linkTarget(k kind, raw string) (string, error) {
	switch {
	case k != symlink && k != hardlink:
		return "", nil
	case raw == "":
		return "", errors.New("is a link to nothing at all; leave it out")
	case k == hardlink:
		clean, err := name.Clean(raw)
		if err != nil {
			return "", fmt.Errorf("is a hard link, and %w; leave it out", err)
		}
		return strings.Clone(clean), nil
	case len(raw) > targetBytesMax:
		return "", fmt.Errorf("is a link to a path of %s, more than %s; leave it out", readable.Count(len(raw), "byte"), readable.Number(targetBytesMax))
	}
	return strings.Clone(raw), nil
}

// targetBytesMax is the longest target of a symlink in Linux.
const targetBytesMax = 4095

// checkGlobal refuses a global record that would change the entries after it, because archive/tar
// does not apply it.
func checkGlobal(h *tar.Header) error {
	for key := range h.PAXRecords {
		if key == "path" || key == "linkpath" || key == "size" || sparseKey(key) {
			return fmt.Errorf("is a global header that sets %s for all entries, which is not supported; repack it", name.Print(key))
		}
	}
	return nil
}

// isSparse reports whether the archive holds only the filled parts of the content.
func isSparse(h *tar.Header) bool {
	return h.Typeflag == tar.TypeGNUSparse ||
		h.Typeflag != tar.TypeXGlobalHeader && slices.ContainsFunc(slices.Collect(maps.Keys(h.PAXRecords)), sparseKey)
}

func sparseKey(key string) bool {
	return strings.HasPrefix(key, "GNU.sparse.") || key == "SCHILY.realsize"
}

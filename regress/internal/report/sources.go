package report

import (
	"strings"

	"muster/internal/readable"
)

// Sources counts the sources and shared files of a corpus that changed since the
// golden was recorded.
type Sources struct {
	Known   int `line:"known"`   // selected cases whose recorded source the golden has
	Changed int `line:"changed"` // cases among them with another source now

	Shared        int `line:"shared"` // files that every case was given then or is given now
	SharedChanged int `line:"shared_changed"`
	SharedAdded   int `line:"shared_added"`
	SharedRemoved int `line:"shared_removed"`

	// Names and SharedNames are the first of each kind, raw.
	Names       []string `line:"names,name,omitempty"`
	SharedNames []string `line:"shared_names,name,omitempty"`
}

// SourceNamesMax bounds the names in a summary.
const SourceNamesMax = namedMax

// sharedDiffering counts the shared files that are not the recorded ones.
func (s Sources) sharedDiffering() int { return s.SharedChanged + s.SharedAdded + s.SharedRemoved }

func (s Sources) remarks(most int) (list []remark) {
	if s.Changed > 0 {
		list = append(list, sentence("sources", notRecorded(s.Changed, s.Known, "source")+": "+namesOf(s.Names, s.Changed, most)))
	}
	if n := s.sharedDiffering(); n > 0 {
		list = append(list, sentence("shared files", notRecorded(n, s.Shared, "shared file")+" ("+s.sharedKinds()+"): "+namesOf(s.SharedNames, n, most)))
	}
	return list
}

// notRecorded says how many of some files are others than at record.
func notRecorded(n, of int, what string) string {
	text := readable.Number(n) + " of " + readable.Count(of, what)
	if n == 1 {
		return text + " is not the one recorded"
	}
	return text + " are not those recorded"
}

// sharedKinds returns the counts of changed, added and removed shared files as text.
func (s Sources) sharedKinds() string {
	var kinds []string
	for _, k := range []struct {
		n    int
		what string
	}{{s.SharedChanged, "changed"}, {s.SharedAdded, "added"}, {s.SharedRemoved, "removed"}} {
		if k.n > 0 {
			kinds = append(kinds, readable.Number(k.n)+" "+k.what)
		}
	}
	return strings.Join(kinds, ", ")
}

// namesOf prints at most most of the first names, and how many more there are of all.
func namesOf(first []string, all, most int) string {
	shown := printedPaths(first[:min(len(first), most)])
	text := strings.Join(shown, ", ")
	if more := all - len(shown); more > 0 {
		text += " and " + readable.Number(more) + " more"
	}
	return text
}

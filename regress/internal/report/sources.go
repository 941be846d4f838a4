package report

import (
	"strings"

	"muster/internal/readable"
	"muster/regress"
)

// SourceNamesMax bounds the names in a summary.
const SourceNamesMax = namedMax

func sourceRemarks(s regress.Sources, most int) (list []remark) {
	if s.Changed > 0 {
		list = append(list, sentence("sources", notRecorded(s.Changed, s.Known, "source")+": "+namesOf(s.Names, s.Changed, most)))
	}
	if n := s.SharedDiffering(); n > 0 {
		list = append(list, sentence("shared files", notRecorded(n, s.Shared, "shared file")+" ("+sharedKinds(s)+"): "+namesOf(s.SharedNames, n, most)))
	}
	return list
}

// notRecorded returns how many of some files differ from the record.
func notRecorded(n, of int, what string) string {
	text := readable.Number(n) + " of " + readable.Count(of, what)
	if n == 1 {
		return text + " is not the one recorded"
	}
	return text + " are not those recorded"
}

// sharedKinds returns the counts of changed, added and removed shared files as text.
func sharedKinds(s regress.Sources) string {
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

// namesOf prints at most most of the first names, and how many of all it leaves out.
func namesOf(first []string, all, most int) string {
	shown := printedPaths(first[:min(len(first), most)])
	text := strings.Join(shown, ", ")
	if more := all - len(shown); more > 0 {
		text += " and " + readable.Number(more) + " more"
	}
	return text
}

package run

import (
	"maps"
	"slices"
	"strings"
)

// An identity has what must be the same to resume a run. Its keys name it in words that an error
// can use.
const (
	corpusKey = "the corpus"
	pathKey   = "the variable PATH" // where a tool finds programs
	// stampOf is the prefix of a key whose value is the stamp of a file.
	stampOf = "the file of "
	// toolFile is the prefix of the keys of the tool's files. The printed path follows it. The
	// value is the file's digest, role and stamp.
	toolFile = "tool file "
	// toolPlace is the prefix of the keys of places that the tool looks at. The value is their state.
	toolPlace = "tool place "
)

// Identify adds the corpus to an identity. Call it after ReadDigests.
func (in *Inputs) Identify(id map[string]string) {
	id[corpusKey], id[stampOf+corpusKey] = in.Digests.Whole.String(), in.Corpus.Stamp()
}

// CorpusIn returns the digest of the corpus in an identity.
func CorpusIn(id map[string]string) string { return id[corpusKey] }

// FirstDifference returns the first key, in alphabetical order, in which two identities differ.
func FirstDifference(a, b map[string]string) string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if a[key] != b[key] {
			return key
		}
	}
	return ""
}

// PartIdentity returns what must be equal in the identities of all parts of one check. It leaves
// out the selection, and stamps of files: another machine has others.
func PartIdentity(id map[string]string) map[string]string {
	id = maps.Clone(id)
	for key, value := range id {
		if strings.HasPrefix(key, toolFile) {
			id[key] = digestOf(value)
		}
	}
	maps.DeleteFunc(id, func(key, _ string) bool {
		return key == pathKey || strings.HasPrefix(key, stampOf) || strings.HasPrefix(key, toolPlace) ||
			slices.Contains([]string{"--cases", "--filter", "--partition", "--sample", "--all-cases", "--golden"}, key)
	})
	return id
}

// FirstPartDifference returns the first key in which two PartIdentities differ. A file of the tool
// that only one part knows is no difference: other cases use other files.
func FirstPartDifference(a, b map[string]string) string {
	a, b = maps.Clone(a), maps.Clone(b)
	for _, id := range []map[string]string{a, b} {
		maps.DeleteFunc(id, func(key, _ string) bool {
			return strings.HasPrefix(key, toolFile) && (a[key] == "" || b[key] == "")
		})
	}
	return FirstDifference(a, b)
}

// digestOf returns the digest in the value of a file of the tool.
func digestOf(value string) string {
	digest, _, _ := strings.Cut(value, " ")
	return digest
}

// isOfTool reports whether a key is that of a file or a place of the tool.
func isOfTool(key string) bool {
	return strings.HasPrefix(key, toolFile) || strings.HasPrefix(key, toolPlace)
}

// hasTool reports whether an identity has a tool. It has none if an engine ran the cases by a path of its own.
func hasTool(id map[string]string) bool {
	for key := range id {
		if isOfTool(key) {
			return true
		}
	}
	return false
}

// isOlder reports whether an earlier muster wrote an identity. It marked files and places of the tool that no
// finished case used, with a word in place of the digest or the state.
func isOlder(id map[string]string) bool {
	for key, value := range id {
		if isOfTool(key) && digestOf(strings.TrimPrefix(value, listed)) == "any" {
			return true
		}
	}
	return false
}

// withoutTool returns an identity without the tool's files and places.
func withoutTool(id map[string]string) map[string]string {
	rest := maps.Clone(id)
	maps.DeleteFunc(rest, func(key, _ string) bool { return isOfTool(key) })
	return rest
}

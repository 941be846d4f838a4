package regress

import (
	"maps"
	"slices"
	"strings"

	"muster/regress/internal/name"
	"muster/regress/internal/tool"
)

// differsIn returns the first thing, by name, in which two identities differ.
func differsIn(a, b map[string]string) string {
	keys := slices.Sorted(maps.Keys(a))
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if a[key] != b[key] {
			return key
		}
	}
	return ""
}

// fileOf begins the key of an identity under which the stamp of a file stands.
const fileOf = "the file of "

// toolFile is the prefix of an identity's keys for files of the tool. The printed path
// follows it. The value is the file's digest and stamp.
const toolFile = "tool file "

// digestOf returns the digest in a value that identifyFiles added.
func digestOf(value string) string {
	digest, _, _ := strings.Cut(value, " ")
	return digest
}

// withoutFiles returns an identity without the tool's files.
func withoutFiles(id map[string]string) map[string]string {
	rest := maps.Clone(id)
	maps.DeleteFunc(rest, func(key, _ string) bool { return strings.HasPrefix(key, toolFile) })
	return rest
}

// identifyFiles adds the files of a tool to an identity.
func identifyFiles(t *tool.Identity, id map[string]string) {
	for f := range t.Files() {
		id[toolFile+name.Print(f.Path)] = f.Digest.String() + " " + f.Stamp
	}
}

// whileItRan is a key of an identity. Only a run whose tool changed meanwhile has it: the
// value names the file.
const whileItRan = "the tool while it ran"

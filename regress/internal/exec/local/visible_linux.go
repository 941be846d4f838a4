package local

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/fault"
	"muster/regress/internal/name"
	"muster/regress/lane/observe"
)

// holder is the folder that holds the lane's folder as cases see it. covered is the one around it:
// a lane with a mount namespace covers it with a folder of its own.
var holder, covered = filepath.Dir(filepath.Dir(Canonical)), filepath.Dir(filepath.Dir(filepath.Dir(Canonical)))

// visibleEntries lists the entries of /tmp that some texts need: all that a path in them goes through,
// with its links resolved. They are relative to /tmp. Those of a folder that has the name of holder are
// listed one by one. Its error is of class Input.
func visibleEntries(texts []string) ([]string, error) {
	needs := map[string]bool{}
	for _, text := range texts {
		for _, path := range pathsIn(text) {
			if path != Canonical && !strings.HasPrefix(path, Canonical+"/") {
				addEntries(needs, path)
			}
		}
	}
	if needs[filepath.Dir(Canonical)] {
		return nil, occupied(filepath.Dir(Canonical))
	}
	var list []string
	for path := range needs {
		if path != holder {
			list = append(list, path[len(covered)+1:])
			continue
		}
		inner, err := os.ReadDir(holder)
		if err != nil {
			return nil, occupied(holder)
		}
		for _, e := range inner {
			if path := filepath.Join(holder, e.Name()); path != filepath.Dir(Canonical) {
				list = append(list, path[len(covered)+1:])
			}
		}
	}
	slices.Sort(list)
	return list, nil
}

func occupied(path string) error {
	return fault.Inputf("cases cannot use %s, because their own folder is at %s: rename %s, or copy it and name the copy", path, Canonical, path)
}

// pathsIn lists the absolute paths in a text: the text itself, its parts between quotes, and its words.
func pathsIn(text string) (paths []string) {
	for _, separators := range []string{"\x00", `'"`, " \t\r\n'\"`:=,;()<>|&@"} {
		for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
			if i := strings.IndexByte(piece, '/'); i == 0 || i > 0 && piece[0] == '-' { // as in -I/tmp/include
				paths = append(paths, piece[i:])
			}
		}
	}
	return paths
}

// addEntries adds the entries of /tmp that a path goes through. If it leads into the folder around
// Canonical, it adds that too.
func addEntries(needs map[string]bool, path string) {
	const linksMax = 40 // as in the kernel
	at, rest := "/", path
	for links := 0; rest != "" && links <= linksMax; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if err != nil {
			if at == covered && strings.ContainsAny(part, "*?[") { // a shell's pattern
				matches, _ := filepath.Glob(next) // a malformed one matches nothing
				for _, match := range matches {
					addEntries(needs, match+"/"+rest)
				}
			}
			return
		}
		switch {
		case part == "" || part == "." || part == "..":
		case at == covered:
			needs[next] = true
		case at == filepath.Dir(Canonical):
			needs[at] = true
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return
		}
		if links++; filepath.IsAbs(target) {
			at = "/"
		}
		rest = target + "/" + rest
	}
}

// completeObservation adds the paths that the command missed in its own /tmp. If the machine's has one,
// the observation is not of what the command does elsewhere.
func completeObservation(o *observe.Observation) {
	for _, path := range o.Missed {
		if _, err := os.Lstat(path); err != nil {
			o.Accesses = append(o.Accesses, observe.Access{Path: path, Kind: observe.Asked})
		} else if o.Blind == "" {
			o.Blind = fmt.Sprintf("the tool looks for %s, which cases do not see", name.Print(path))
		}
	}
}

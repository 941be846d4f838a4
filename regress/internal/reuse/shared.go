package reuse

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"muster/regress/internal/closure"
	"muster/regress/internal/outcome"
	"muster/regress/lane/observe"
)

// Bounds of what a cache has for one setting.
const (
	CatalogBytesMax = 16 << 20
	CasesBytesMax   = 64 << 20

	catalogMax = 8       // tools of one setting, by their paths
	pathsMax   = 1 << 17 // of one tool
	sourcesMax = 4       // entries of one case, each with another source
)

// Root is the folder that machines share as a checkout, each at another path. In a cache, paths below it
// and above it are relative to it.
type Root string

// outside returns a path of this machine as a cache has it.
func (r Root) outside(path string) string {
	rel, err := filepath.Rel(string(r), path)
	isAbove := strings.Trim(rel, "./") == ""
	if err != nil || path == "/" || !filepath.IsLocal(rel) && !isAbove || path != filepath.Clean(path) {
		return path
	}
	return rel
}

// inside is the reverse of outside.
func (r Root) inside(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(string(r), path)
}

// Catalog lists the paths that tools of one setting used: the tools of the last checks, the newest first.
// Each line is one tool, a JSON array of paths with their kinds.
type Catalog struct{ lines [][]byte }

// ReadCatalog reads the text of a catalog. It never fails: Tools leaves out damaged lines.
func ReadCatalog(text []byte) (c Catalog) {
	for line := range bytes.Lines(text) {
		if len(c.lines) < catalogMax {
			c.lines = append(c.lines, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	return c
}

// The kinds of paths that have no role.
const (
	placeKind   = "place"
	listedKind  = "listed place"
	writtenKind = "written place"
)

// Tools returns the tools with their paths on this machine, without digests and states. It leaves out tools
// with files that the kernel makes up. No check leaves such a tool, and reading these files may never end.
func (c Catalog) Tools(r Root) (list []closure.Closure) {
	for _, line := range c.lines {
		var paths [][]byte
		if json.Unmarshal(line, &paths) != nil || len(paths) > pathsMax {
			continue
		}
		var tool closure.Closure
		for _, p := range paths {
			kind, path, _ := strings.Cut(string(p), "\n")
			if path = r.inside(path); strings.ContainsRune(path, 0) || observe.IsKernels(filepath.Clean(path)) {
				tool = closure.Closure{}
				break
			}
			switch role := closure.Role(kind); {
			case kind == placeKind, kind == listedKind, kind == writtenKind:
				tool.Places = append(tool.Places, closure.Place{Path: path, IsListed: kind == listedKind, IsWritten: kind == writtenKind})
			case slices.Contains(closure.Roles(), role):
				tool.Files = append(tool.Files, closure.File{Path: path, Role: role})
			}
		}
		if len(tool.Files) > 0 {
			list = append(list, tool)
		}
	}
	return list
}

// With returns the text of a catalog that begins with a tool.
func (c Catalog) With(tool *closure.Closure, r Root) (text []byte, err error) {
	var paths [][]byte
	add := func(kind, path string) { paths = append(paths, []byte(kind+"\n"+r.outside(path))) }
	for _, f := range tool.Files {
		add(string(f.Role), f.Path)
	}
	for _, p := range tool.Places {
		kind := placeKind
		switch {
		case p.IsListed:
			kind = listedKind
		case p.IsWritten:
			kind = writtenKind
		}
		add(kind, p.Path)
	}
	slices.SortFunc(paths, bytes.Compare)
	first, err := json.Marshal(paths)
	lines := [][]byte{first}
	for _, line := range c.lines {
		if !bytes.Equal(line, first) && len(lines) < catalogMax {
			lines = append(lines, line)
		}
	}
	return append(bytes.Join(lines, []byte("\n")), '\n'), err
}

// ToolKey returns the digest of a setting and of everything that a program can see of a tool.
func (r Root) ToolKey(setting outcome.Digest, tool *closure.Closure) (outcome.Digest, error) {
	var kept []keptPath
	add := func(p keptPath, path string) {
		p.Path, p.Look = []byte(r.outside(path)), strings.ReplaceAll(lookOf(path, p.IsListed, tool.Own), `"`+string(r)+"/", `"./`)
		kept = append(kept, p)
	}
	for _, f := range tool.Files {
		add(keptPath{Digest: f.Digest}, f.Path)
	}
	for _, p := range tool.Places {
		add(keptPath{State: p.State, IsListed: p.IsListed, IsWritten: p.IsWritten}, p.Path)
	}
	slices.SortFunc(kept, func(a, b keptPath) int { return bytes.Compare(a.Path, b.Path) })
	text, err := json.Marshal(kept)
	return outcome.Of(slices.Concat(setting[:], text)), err
}

// SharedCases are the cases that a cache has for one setting and one tool. A case may have several entries,
// each with another source, the newest first.
type SharedCases map[string][]Case

// ReadShared reads the text of entries, one a line. It ignores damaged lines.
func ReadShared(text []byte) SharedCases {
	s := SharedCases{}
	for line := range bytes.Lines(text) {
		var c keptCase
		if json.Unmarshal(line, &c) == nil && len(c.Name) > 0 && c.Source != (outcome.Digest{}) && (c.Runs > 0) == c.HasOutcome() {
			s.add(string(c.Name), c.Case)
		}
	}
	return s
}

// add adds an entry behind those of its case, unless there is one of this source or there are too many.
func (s SharedCases) add(caseName string, c Case) {
	has := func(other Case) bool { return other.Source == c.Source }
	if list := s[caseName]; len(list) < sourcesMax && !slices.ContainsFunc(list, has) {
		s[caseName] = append(list, c)
	}
}

// Of returns the entry of a case for a source.
func (s SharedCases) Of(caseName string, source outcome.Digest) (Case, bool) {
	for _, c := range s[caseName] {
		if c.Source == source {
			return c, true
		}
	}
	return Case{}, false
}

// Encode returns the text with these entries, and then those of older.
func (s SharedCases) Encode(older SharedCases) (text []byte, err error) {
	all := SharedCases{}
	for _, from := range []SharedCases{s, older} {
		for caseName, list := range from {
			for _, c := range list {
				all.add(caseName, c)
			}
		}
	}
	for _, caseName := range slices.Sorted(maps.Keys(all)) {
		for _, c := range all[caseName] {
			line, err := json.Marshal(keptCase{[]byte(caseName), c})
			if err != nil {
				return nil, err
			}
			text = append(append(text, line...), '\n')
		}
	}
	return text, nil
}

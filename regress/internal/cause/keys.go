package cause

import (
	"strings"

	"muster/regress/internal/cause/pattern"
)

// keysMin is how many rare keys at one place of a path are data: names of files, identifiers.
const keysMin = 8

// anyKey stands in a path for keys that are data.
const anyKey = "*"

// generalizeKeys replaces keys that are data by anyKey in the paths of patterns: src/a.n and src/b.n become *.n. At
// least keysMin keys at one place are data if each is in fewer than literal cases, and the same key follows them or the
// same members came or went below them. each calls visit with every case and pattern, by their indexes.
func generalizeKeys(patterns []*pattern.Pattern, literal int, each func(visit func(c, p int))) {
	type key struct{ around, name string }
	type count struct{ last, cases int }
	found := make([][]dataKey, len(patterns))
	for i, p := range patterns {
		found[i] = dataKeys(p)
	}
	counts, rare := map[key]count{}, map[string]int{}
	each(func(c, p int) {
		for _, h := range found[p] {
			if n := counts[key{h.around, h.key}]; n.last != c+1 {
				counts[key{h.around, h.key}] = count{c + 1, n.cases + 1}
			}
		}
	})
	for k, n := range counts {
		if n.cases < literal {
			rare[k.around]++
		}
	}
	for i, list := range found {
		for _, h := range list {
			if rare[h.around] >= keysMin && counts[key{h.around, h.key}].cases < literal {
				patterns[i].In = h.path
				break
			}
		}
	}
}

// A dataKey is a key of a path that may be data.
type dataKey struct {
	key    string
	path   string // with anyKey instead
	around string // what all patterns share that differ only in the key
}

// dataKeys returns the keys in the path of a pattern that may be data. These are the last key but one, and the last
// key if members below it came or went. A word beside a number counts as a key.
func dataKeys(p *pattern.Pattern) (list []dataKey) {
	if p.Sort != pattern.Value && p.Sort != pattern.Move || p.In == "" {
		return nil
	}
	how, path, _ := strings.Cut(p.In, " ")
	at := strings.LastIndexByte(path, '.') + 1
	name := func(key string) string { return strings.TrimRight(key, "[]") }
	put := func(from, to int, sides string) {
		key := name(path[from:to])
		in := how + " " + path[:from] + anyKey + path[from+len(key):]
		list = append(list, dataKey{key, in, in + sides})
	}
	if at > 0 {
		put(0, at-1, "")
	}
	if how == "before" || how == "behind" {
		put(0, len(path), "")
	}
	if how == "in" && name(path) != "$" {
		q := *p
		q.In = ""
		put(at, len(path), "\t"+q.Key())
	}
	return list
}

package content

import (
	"slices"

	"muster/regress/internal/fault"
	"muster/regress/internal/outcome"
	"muster/regress/internal/partglob"
)

// IgnoreList matches the parts that --ignore names. They are never compared, and no store keeps their
// contents: an outcome has them as parts of the form outcome.Ignored. It never changes after
// ParseIgnore, so any number of goroutines may use it.
type IgnoreList []*partglob.Pattern

// ParseIgnore compiles the patterns of --ignore. Its error is of class fault.Input.
func ParseIgnore(globs []string) (IgnoreList, error) {
	list := make(IgnoreList, 0, len(globs))
	for _, text := range globs {
		p, err := partglob.Compile(text)
		if err != nil {
			return nil, fault.Inputf("--ignore %q: %w", text, err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Match reports whether a part is ignored.
func (list IgnoreList) Match(k outcome.Key) bool {
	return slices.ContainsFunc(list, func(p *partglob.Pattern) bool { return p.Match(k) })
}

// IgnoredParts names the parts of an outcome that are ignored, by outcome.PartName, sorted.
func IgnoredParts(o *outcome.Outcome) (names []string) {
	for _, k := range o.IgnoredParts() {
		names = append(names, outcome.PartName(k))
	}
	return names
}

package cause

import (
	"slices"
	"strings"
)

// Member returns the case with the given name.
func (f *Found) Member(name string) (*Member, bool) {
	i, known := slices.BinarySearchFunc(f.Members, name, func(m Member, name string) int { return strings.Compare(m.Name, name) })
	if !known {
		return nil, false
	}
	return &f.Members[i], true
}

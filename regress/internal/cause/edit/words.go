package edit

import (
	"cmp"

	"muster/regress/internal/cause/pattern"
)

// Words numbers strings. The empty string is 0. For a pattern it keeps where its elements have space
// before them, as in the output: names are written so.
type Words struct {
	numbers map[string]int32
	List    []string
	Spaces  map[int32]pattern.Spaces
}

// NewWords returns words without strings but the empty one.
func NewWords() *Words {
	return &Words{map[string]int32{"": 0}, []string{""}, map[int32]pattern.Spaces{}}
}

func (w *Words) index(b []byte) int32 {
	if n, known := w.numbers[string(b)]; known {
		return n
	}
	return w.Add(string(b))
}

// Add returns the number of a string, and gives it one if it has none.
func (w *Words) Add(s string) int32 {
	n, known := w.numbers[s]
	if !known {
		n = int32(len(w.List))
		w.numbers[s] = n
		w.List = append(w.List, s)
	}
	return n
}

// SetSpaces keeps the spaces of a pattern. Where cases differ in them, those count that sort first: the
// order of the calls does not matter.
func (w *Words) SetSpaces(n int32, is pattern.Spaces) {
	if was, known := w.Spaces[n]; !known || cmp.Or(cmp.Compare(is.Old, was.Old), cmp.Compare(is.Now, was.Now)) < 0 {
		w.Spaces[n] = is
	}
}

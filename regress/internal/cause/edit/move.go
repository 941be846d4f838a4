package edit

import (
	"bytes"
	"slices"
	"strings"

	"muster/regress/internal/cause/pattern"
)

// movedMin is the number of elements of a move. Fewer elements may vanish here and appear there by
// chance.
const movedMin = 3

// matchMoves gives one pattern to tokens that vanished from some places of a text and appear at as
// many others. The neighbours of those places do not matter.
func (t *text) matchMoves() {
	at := map[int32][]int{}
	for i := range t.places {
		at[t.places[i].Pattern] = append(at[t.places[i].Pattern], i)
	}
	for _, o := range t.opposites(at) {
		gone, come := at[o.gone], at[o.come]
		if len(gone) != len(come) || !t.areAll(o.gone, gone) || !t.areAll(o.come, come) || !t.sameTexts(gone, come) {
			continue
		}
		m := t.words.Add(pattern.Move.Key(o.side + "\t" + o.side))
		at := t.words.Spaces[o.gone].Old
		t.words.SetSpaces(m, pattern.Spaces{Old: at, Now: at})
		both := slices.Concat(gone, come)
		slices.Sort(both)
		for _, i := range both {
			t.places[i].Pattern, t.places[i].Cut = m, -1
			if t.extents != nil {
				t.countEdit(t.places[i])
			}
		}
	}
}

// areAll reports whether these are all edits of a pattern. Beyond editsMax, edits are not kept.
func (t *text) areAll(pattern int32, edits []int) bool {
	return t.extents == nil || int(t.extents[pattern].edits) == len(edits)
}

// An opposite is a pair of patterns: one removes what the other adds.
type opposite struct {
	side       string
	gone, come int32
}

// opposites returns the opposites among the patterns of a text, in order.
func (t *text) opposites(at map[int32][]int) (found []opposite) {
	for gone := range at {
		side, isEdit := strings.CutPrefix(t.words.List[gone], pattern.Edit.Key(""))
		side, isGone := strings.CutSuffix(side, "\t")
		if !isEdit || !isGone || strings.Count(side, " ") < movedMin-1 || !strings.Contains(" "+side, " w") {
			continue
		}
		if come, known := t.words.numbers[pattern.Edit.Key("\t"+side)]; known && len(at[come]) > 0 {
			found = append(found, opposite{side, gone, come})
		}
	}
	slices.SortFunc(found, func(x, y opposite) int { return int(x.gone) - int(y.gone) })
	return found
}

// sameTexts reports whether the removed texts equal the added ones, pair by pair.
func (t *text) sameTexts(gone, come []int) bool {
	for i := range gone {
		x, y := t.places[gone[i]].Old, t.places[come[i]].Now
		if !bytes.Equal(bytes.TrimSpace(t.old[x.From:x.To]), bytes.TrimSpace(t.now[y.From:y.To])) {
			return false
		}
	}
	return true
}

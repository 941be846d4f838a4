package cause

import (
	"bytes"
	"slices"
	"strings"
)

// movedMin is how many elements must be gone here and be there for it to have moved: of
// less it may be chance.
const movedMin = 3

// moved gives one pattern to what a text has no longer in some places and has in as many
// others. What stands beside either place has nothing to do with it.
func (t *text) moved() {
	at := map[int32][]int{}
	for i := range t.places {
		at[t.places[i].pattern] = append(at[t.places[i].pattern], i)
	}
	for _, o := range t.opposites(at) {
		gone, come := at[o.gone], at[o.come]
		if len(gone) != len(come) || !t.areAll(o.gone, gone) || !t.areAll(o.come, come) || !t.sameTexts(gone, come) {
			continue
		}
		m := t.words.add(sortMove.key(o.side + "\t" + o.side))
		both := slices.Concat(gone, come)
		slices.Sort(both)
		for _, i := range both {
			t.places[i].pattern, t.places[i].cut = m, -1
			if t.seen != nil {
				t.extend(t.places[i])
			}
		}
	}
}

// areAll reports whether a pattern has no edits but these: where there are too many, not
// all are kept.
func (t *text) areAll(pattern int32, edits []int) bool {
	return t.seen == nil || int(t.seen[pattern].edits) == len(edits)
}

// An opposite is what one pattern takes away and another one puts somewhere.
type opposite struct {
	side       string
	gone, come int32
}

// opposites are those among the patterns of a text, in their order.
func (t *text) opposites(at map[int32][]int) (found []opposite) {
	for gone := range at {
		side, isEdit := strings.CutPrefix(t.words.list[gone], sortEdit.key(""))
		side, isGone := strings.CutSuffix(side, "\t")
		if !isEdit || !isGone || strings.Count(side, " ") < movedMin-1 || !strings.Contains(" "+side, " w") {
			continue
		}
		if come, known := t.words.numbers[sortEdit.key("\t"+side)]; known && len(at[come]) > 0 {
			found = append(found, opposite{side, gone, come})
		}
	}
	slices.SortFunc(found, func(x, y opposite) int { return int(x.gone) - int(y.gone) })
	return found
}

// sameTexts reports whether what is gone is what has come, one by one.
func (t *text) sameTexts(gone, come []int) bool {
	for i := range gone {
		x, y := t.places[gone[i]].Old, t.places[come[i]].Now
		if !bytes.Equal(bytes.TrimSpace(t.old[x.From:x.To]), bytes.TrimSpace(t.now[y.From:y.To])) {
			return false
		}
	}
	return true
}
